/* SPDX-License-Identifier: MIT */
/*
 * Configs of small models of every family, for a test that says before how many layers and positions they have:
 *
 *     #define WEFT_TEST_LAYERS    12
 *     #define WEFT_TEST_POSITIONS 24
 */
#ifndef WEFT_TESTS_SUPPORT_FAMILIES_H
#define WEFT_TESTS_SUPPORT_FAMILIES_H

#define WEFT_TEST_TEXT2(x) #x
#define WEFT_TEST_TEXT(x)  WEFT_TEST_TEXT2(x)
#define WEFT_TEST_SIZES                                            \
    "'hidden_size':16,'num_hidden_layers':" WEFT_TEST_TEXT(        \
        WEFT_TEST_LAYERS) ",'intermediate_size':24,'max_position_" \
                          "embeddings':" WEFT_TEST_TEXT(WEFT_TEST_POSITIONS)
#define WEFT_TEST_AROUND    "'vocab_size':256,'task':'hidden'," WEFT_TEST_SIZES
#define WEFT_TEST_ATTENTION WEFT_TEST_AROUND ",'num_attention_heads':2"
#define WEFT_TEST_CAUSAL \
    "'vocab_size':256,'task':'causal_lm'," WEFT_TEST_SIZES ",'num_attention_heads':2"
#define WEFT_TEST_FNET    "{'model_type':'fnet','vocab_size':256,'type_vocab_size':2," WEFT_TEST_SIZES
#define WEFT_TEST_ENCODER "'vocab_size':256,'num_attention_heads':2," WEFT_TEST_SIZES
/* Models whose positions begin behind the padding's. */
#define WEFT_TEST_OFFSET                                                            \
    "'vocab_size':256,'num_attention_heads':2,'hidden_size':16,'num_hidden_layers'" \
    ":" WEFT_TEST_TEXT(WEFT_TEST_LAYERS) ",'intermediate_size':24,'max_position_embeddings':4098"
#define WEFT_TEST_HYBRID ",'mamba_n_heads':4,'mamba_d_state':6,'mamba_n_groups':2"
#define WEFT_TEST_DELTA                                                 \
    ",'linear_num_key_heads':2,'linear_num_value_heads':4,'linear_key_" \
    "head_dim':8,'linear_value_head_dim':8"
#define WEFT_TEST_FLA                                                              \
    "'vocab_size':256,'hidden_size':16,'intermediate_size':24,'num_hidden_layers'" \
    ":" WEFT_TEST_TEXT(WEFT_TEST_LAYERS)
#define WEFT_TEST_RPE     ",'rpe_size':8,'rpe_layers':2,'expand_ratio':2"
#define WEFT_TEST_SPECTRA "{'model_type':'spectraformer'," WEFT_TEST_ATTENTION ",'num_features':32"

/* Every family, every source of weights in it, every task and input, every norm. */
static const char *const weft_test_configs[] = {
    WEFT_TEST_FNET ",'architectures':['FNetModel']}",
    WEFT_TEST_FNET ",'architectures':['FNetForMaskedLM']}",
    WEFT_TEST_FNET ",'architectures':['FNetForMaskedLM'],'tie_word_embeddings':false}",
    WEFT_TEST_FNET ",'architectures':['FNetForSequenceClassification'],'weft_mixing':'linear'}",
    WEFT_TEST_FNET ",'architectures':['FNetForNextSentencePrediction'],'weft_mixing':'none'}",
    WEFT_TEST_FNET ",'architectures':['FNetForTokenClassification']}",
    WEFT_TEST_FNET ",'architectures':['FNetForQuestionAnswering']}",
    WEFT_TEST_FNET ",'architectures':['FNetForMultipleChoice']}",
    WEFT_TEST_FNET
    ",'architectures':['FNetModel'],'weft_attention_layers':3,'num_attention_heads':4}",
    "{'model_type':'bert','architectures':['BertForMaskedLM']," WEFT_TEST_ENCODER "}",
    "{'model_type':'bert','architectures':['BertForNextSentencePrediction']," WEFT_TEST_ENCODER "}",
    "{'model_type':'distilbert','architectures':['DistilBertForSequenceClassification'],"
    "'vocab_size':256,'dim':16,'n_layers':" WEFT_TEST_TEXT(
        WEFT_TEST_LAYERS) ",'n_heads':2,'hidden_dim':24,'max_position_"
                          "embeddings':" WEFT_TEST_TEXT(WEFT_TEST_POSITIONS) "}",
    "{'model_type':'roberta','architectures':['RobertaForMaskedLM']," WEFT_TEST_OFFSET "}",
    "{'model_type':'xlm-roberta','architectures':['XLMRobertaForQuestionAnswering']"
    "," WEFT_TEST_OFFSET "}",
    "{'model_type':'electra','architectures':['ElectraForPreTraining'],"
    "'embedding_size':8," WEFT_TEST_ENCODER "}",
    "{'model_type':'mpnet','architectures':['MPNetForTokenClassification']," WEFT_TEST_OFFSET "}",
    "{'model_type':'modernbert','architectures':['ModernBertForMaskedLM'],'local_attention':"
    "8," WEFT_TEST_ENCODER "}",
    "{'model_type':'ernie','architectures':['ErnieForMaskedLM'],'use_task_id':"
    "true," WEFT_TEST_ENCODER "}",
    "{'model_type':'albert','architectures':['AlbertForMaskedLM'],'embedding_size':6,'num_hidden_"
    "groups':2," WEFT_TEST_ENCODER "}",
    "{'model_type':'xlm-roberta-xl','architectures':['XLMRobertaXLForSequenceClassification'],"
    "'type_vocab_size':2," WEFT_TEST_OFFSET "}",
    "{'model_type':'camembert','architectures':['CamembertForTokenClassification']"
    "," WEFT_TEST_OFFSET "}",
    "{'model_type':'data2vec-text','architectures':['Data2VecTextModel']," WEFT_TEST_OFFSET "}",
    "{'model_type':'nomic_bert','architectures':['NomicBertForMaskedLM']," WEFT_TEST_ENCODER "}",
    "{'model_type':'deberta-v2','architectures':['DebertaV2ForSequenceClassification'],'relative_"
    "attention':true,'pos_att_type':'c2p|p2c','position_buckets':12,'share_att_key':true,'norm_rel_"
    "ebd':'layer_norm','position_biased_input':false," WEFT_TEST_ENCODER "}",
    "{'model_type':'deberta-v2','architectures':['DebertaV2ForMaskedLM'],'relative_attention':true,"
    "'pos_att_type':['c2p','p2c'],'conv_kernel_size':3,'embedding_size':8," WEFT_TEST_ENCODER "}",
    "{'model_type':'t5','architectures':['T5EncoderModel'],'vocab_size':256,'d_model':16,'d_kv':6,'"
    "d_ff':24,'num_heads':2,'num_layers':" WEFT_TEST_TEXT(
        WEFT_TEST_LAYERS) ",'n_positions':" WEFT_TEST_TEXT(WEFT_TEST_POSITIONS) "}",
    "{'model_type':'umt5','architectures':['UMT5EncoderModel'],'vocab_size':256,'d_model':16,'d_kv'"
    ":6,'d_ff':24,'num_heads':2,'num_layers':" WEFT_TEST_TEXT(
        WEFT_TEST_LAYERS) ",'n_positions':" WEFT_TEST_TEXT(WEFT_TEST_POSITIONS) "}",
    "{'model_type':'clip','architectures':['CLIPModel'],'projection_dim':12,'text_config':"
    "{'eos_token_id':255," WEFT_TEST_ENCODER "}}",
    "{'model_type':'clip_vision_model','architectures':['CLIPVisionModelWithProjection'],"
    "'image_size':9,'patch_size':4,'num_attention_heads':2," WEFT_TEST_SIZES "}",
    "{'model_type':'siglip','architectures':['SiglipForImageClassification'],'vision_config':"
    "{'image_size':9,'patch_size':4,'num_attention_heads':2," WEFT_TEST_SIZES "}}",
    "{'model_type':'siglip_text_model','architectures':['SiglipTextModel']," WEFT_TEST_ENCODER "}",
    "{'model_type':'siglip_vision_model','architectures':['SiglipVisionModel'],"
    "'image_size':9,'patch_size':4,'num_attention_heads':2," WEFT_TEST_SIZES "}",
    "{'model_type':'dinov2','architectures':['Dinov2ForImageClassification'],'use_swiglu_ffn':true,"
    "'mlp_ratio':2,'image_size':9,'patch_size':4,'num_attention_heads':2," WEFT_TEST_SIZES "}",
    "{'model_type':'vit','architectures':['ViTForImageClassification'],'image_size':8,"
    "'patch_size':4,'num_attention_heads':2," WEFT_TEST_SIZES "}",
    "{'model_type':'gpt2','architectures':['GPT2LMHeadModel'],'vocab_size':256,'n_embd':16,"
    "'n_layer':" WEFT_TEST_TEXT(WEFT_TEST_LAYERS) ",'n_head':2,'n_positions':" WEFT_TEST_TEXT(
        WEFT_TEST_POSITIONS) "}",
    "{'model_type':'llama','architectures':['LlamaForCausalLM'],'num_key_value_heads':"
    "1," WEFT_TEST_ENCODER "}",
    "{'model_type':'mistral','architectures':['MistralForTokenClassification'],"
    "'num_key_value_heads':2,'sliding_window':9," WEFT_TEST_ENCODER "}",
    "{'model_type':'qwen2','architectures':['Qwen2ForSequenceClassification']," WEFT_TEST_ENCODER
    "}",
    "{'model_type':'qwen3','architectures':['Qwen3ForCausalLM'],'head_dim':12," WEFT_TEST_ENCODER
    "}",
    "{'model_type':'gptj','architectures':['GPTJForCausalLM'],'rotary_dim':4,'vocab_size':256,'n_"
    "embd':16,'n_layer':" WEFT_TEST_TEXT(
        WEFT_TEST_LAYERS) ",'n_head':2,'n_positions':" WEFT_TEST_TEXT(WEFT_TEST_POSITIONS) "}",
    "{'model_type':'gpt_neox','architectures':['GPTNeoXForCausalLM']," WEFT_TEST_ENCODER "}",
    "{'model_type':'opt','architectures':['OPTForCausalLM'],'ffn_dim':24," WEFT_TEST_ENCODER "}",
    "{'model_type':'bloom','architectures':['BloomForCausalLM'],'seq_length':" WEFT_TEST_TEXT(
        WEFT_TEST_POSITIONS) "," WEFT_TEST_ENCODER "}",
    "{'model_type':'falcon','architectures':['FalconForCausalLM'],'new_decoder_architecture':true,'"
    "num_kv_heads':2," WEFT_TEST_ENCODER "}",
    "{'model_type':'granite','architectures':['GraniteForCausalLM'],'embedding_multiplier':3,'"
    "residual_multiplier':0.5," WEFT_TEST_ENCODER "}",
    "{'model_type':'smollm3','architectures':['SmolLM3ForCausalLM'],'num_key_value_heads':"
    "1," WEFT_TEST_ENCODER "}",
    "{'model_type':'gpt_neo','architectures':['GPTNeoForCausalLM'],'vocab_size':256,'hidden_size':"
    "16,"
    "'num_layers':" WEFT_TEST_TEXT(WEFT_TEST_LAYERS) ",'num_heads':2,'window_size':5,'max_position_"
                                                     "embeddings':" WEFT_TEST_TEXT(
                                                         WEFT_TEST_POSITIONS) "}",
    "{'model_type':'arcee','architectures':['ArceeForCausalLM'],'mlp_bias':true," WEFT_TEST_ENCODER
    "}",
    "{'model_type':'seed_oss','architectures':['SeedOssForCausalLM'],'num_key_value_heads':1,"
    "'attention_out_bias':true," WEFT_TEST_ENCODER "}",
    "{'model_type':'ernie4_5','architectures':['Ernie4_5ForCausalLM'],'head_dim':6,'use_bias':"
    "true," WEFT_TEST_ENCODER "}",
    "{'model_type':'helium','architectures':['HeliumForCausalLM'],'num_key_value_heads':1,'head_"
    "dim':"
    "8," WEFT_TEST_ENCODER "}",
    "{'model_type':'exaone4','architectures':['Exaone4ForCausalLM'],'num_key_value_heads':1,'"
    "sliding_"
    "window':6," WEFT_TEST_ENCODER "}",
    "{'model_type':'glm','architectures':['GlmForCausalLM'],'head_dim':8," WEFT_TEST_ENCODER "}",
    "{'model_type':'glm4','architectures':['Glm4ForCausalLM'],'head_dim':8," WEFT_TEST_ENCODER "}",
    "{'model_type':'nemotron','architectures':['NemotronForCausalLM']," WEFT_TEST_ENCODER "}",
    "{'model_type':'mixtral','architectures':['MixtralForCausalLM'],'num_key_value_heads':1,"
    "'num_local_experts':3," WEFT_TEST_ENCODER "}",
    "{'model_type':'granitemoe','architectures':['GraniteMoeForCausalLM'],'num_local_experts':"
    "4," WEFT_TEST_ENCODER "}",
    "{'model_type':'olmoe','architectures':['OlmoeForCausalLM'],'num_experts':5,'num_experts_per_"
    "tok':2," WEFT_TEST_ENCODER "}",
    "{'model_type':'qwen2_moe','architectures':['Qwen2MoeForCausalLM'],'num_key_value_heads':2,"
    "'num_experts':4,'moe_intermediate_size':6,'shared_expert_intermediate_size':10,'decoder_"
    "sparse_step':2," WEFT_TEST_ENCODER "}",
    "{'model_type':'qwen3_moe','architectures':['Qwen3MoeForCausalLM'],'num_key_value_heads':2,"
    "'num_experts':4,'num_experts_per_tok':1,'moe_intermediate_size':6," WEFT_TEST_ENCODER "}",
    "{'model_type':'gpt_oss','architectures':['GptOssForCausalLM'],'num_key_value_heads':1,"
    "'num_local_experts':4,'num_experts_per_tok':2,'head_dim':8,'sliding_window':6,"
    "" WEFT_TEST_ENCODER "}",
    "{'model_type':'phi','architectures':['PhiForCausalLM'],'qk_layernorm':true," WEFT_TEST_ENCODER
    "}",
    "{'model_type':'phi3','architectures':['Phi3ForCausalLM'],'num_key_value_heads':1,'rope_"
    "scaling':{'type':'yarn','factor':4}," WEFT_TEST_ENCODER "}",
    "{'model_type':'gemma','architectures':['GemmaForCausalLM'],'num_key_value_heads':1,'head_dim':"
    "12," WEFT_TEST_ENCODER "}",
    "{'model_type':'gemma2','architectures':['Gemma2ForCausalLM'],'num_key_value_heads':1,'head_"
    "dim':12,'sliding_window':9," WEFT_TEST_ENCODER "}",
    "{'model_type':'gemma3_text','architectures':['Gemma3TextModel'],'num_key_value_heads':1,'head_"
    "dim':12,'sliding_window':9,'sliding_window_pattern':2,'use_bidirectional_attention':"
    "true," WEFT_TEST_ENCODER "}",
    "{'model_type':'gemma3_text','architectures':['Gemma3ForCausalLM'],'num_key_value_heads':1,'"
    "head_dim':12,'sliding_window':9,'sliding_window_pattern':2," WEFT_TEST_ENCODER "}",
    "{'model_type':'olmo2','architectures':['Olmo2ForCausalLM']," WEFT_TEST_ENCODER "}",
    "{'model_type':'olmo3','architectures':['Olmo3ForCausalLM'],'sliding_window':"
    "9," WEFT_TEST_ENCODER "}",
    "{'model_type':'cohere2','architectures':['Cohere2ForCausalLM'],'sliding_window':"
    "9," WEFT_TEST_ENCODER "}",
    "{'model_type':'starcoder2','architectures':['Starcoder2ForCausalLM'],'num_key_value_heads':"
    "1," WEFT_TEST_ENCODER "}",
    "{'model_type':'stablelm','architectures':['StableLmForCausalLM'],'num_key_value_heads':2,'use_"
    "parallel_residual':true," WEFT_TEST_ENCODER "}",
    "{'model_type':'mamba','architectures':['MambaForCausalLM'],'vocab_size':256,'hidden_size':16,"
    "'state_size':6,'num_hidden_layers':" WEFT_TEST_TEXT(WEFT_TEST_LAYERS) "}",
    "{'model_type':'falcon_mamba','architectures':['FalconMambaForCausalLM'],'vocab_size':256,"
    "'hidden_size':16,'state_size':6,'use_bias':true,'num_hidden_layers'"
    ":" WEFT_TEST_TEXT(WEFT_TEST_LAYERS) "}",
    "{'model_type':'mamba2','architectures':['Mamba2ForCausalLM'],'vocab_size':256,'hidden_size':"
    "16,"
    "'num_heads':4,'head_dim':8,'state_size':6,'n_groups':2,'num_hidden_layers'"
    ":" WEFT_TEST_TEXT(WEFT_TEST_LAYERS) "}",
    "{'model_type':'falcon_h1','architectures':['FalconH1ForCausalLM'],'num_key_value_heads':1,"
    "'mamba_d_ssm':24,'mamba_rms_norm':true,'ssm_multipliers':[0.5,1,2,1,0.5]" WEFT_TEST_HYBRID
    "," WEFT_TEST_ENCODER "}",
    "{'model_type':'bamba','architectures':['BambaForCausalLM'],'num_key_value_heads':1,"
    "'attn_layer_indices':[0]" WEFT_TEST_HYBRID "," WEFT_TEST_ENCODER "}",
    "{'model_type':'granitemoehybrid','architectures':['GraniteMoeHybridForCausalLM'],"
    "'num_local_experts':0,'shared_intermediate_size':12" WEFT_TEST_HYBRID "," WEFT_TEST_ENCODER
    "}",
    "{'model_type':'lfm2','architectures':['Lfm2ForCausalLM'],'num_key_value_heads':1,"
    "'full_attn_idxs':[0],'block_multiple_of':4," WEFT_TEST_ENCODER "}",
    "{'model_type':'lfm2_moe','architectures':['Lfm2MoeForCausalLM'],'num_key_value_heads':1,"
    "'full_attn_idxs':[0],'num_experts':4,'num_experts_per_tok':2,'moe_intermediate_size':6,'num_"
    "dense_layers':1," WEFT_TEST_ENCODER "}",
    "{'model_type':'recurrent_gemma','architectures':['RecurrentGemmaForCausalLM'],"
    "'num_key_value_heads':1,'block_types':['recurrent','attention']," WEFT_TEST_ENCODER "}",
    "{'model_type':'rwkv7','architectures':['RWKV7ForCausalLM'],'head_dim':8,'decay_low_rank_dim':"
    "3,"
    "'gate_low_rank_dim':5,'a_low_rank_dim':2,'v_low_rank_dim':3," WEFT_TEST_FLA "}",
    "{'model_type':'retnet','architectures':['RetNetForCausalLM'],'num_heads':2," WEFT_TEST_FLA "}",
    "{'model_type':'gla','architectures':['GLAForCausalLM'],'num_heads':4,'num_kv_heads':2,"
    "'use_short_conv':true," WEFT_TEST_FLA "}",
    "{'model_type':'delta_net','architectures':['DeltaNetForCausalLM'],'num_heads':2,"
    "'qk_activation':'elu','qk_norm':'sum'," WEFT_TEST_FLA "}",
    "{'model_type':'gated_deltanet','architectures':['GatedDeltaNetForCausalLM'],'num_heads':2,"
    "'num_v_heads':4,'head_dim':6," WEFT_TEST_FLA "}",
    "{'model_type':'qwen3_next','architectures':['Qwen3NextForCausalLM'],'num_key_value_heads':1,"
    "'head_dim':8,'num_experts':0" WEFT_TEST_DELTA "," WEFT_TEST_ENCODER "}",
    "{'model_type':'qwen3_5_moe_text','architectures':['Qwen3_5MoeForCausalLM'],'num_key_value_"
    "heads':1,'head_dim':8,'num_experts':3,'num_experts_per_tok':2,'moe_intermediate_size':6,"
    "'shared_expert_intermediate_size':4" WEFT_TEST_DELTA "," WEFT_TEST_ENCODER "}",
    "{'model_type':'qwen3_5_text','architectures':['Qwen3_5ForCausalLM'],'num_key_value_heads':2,"
    "'head_dim':8" WEFT_TEST_DELTA "," WEFT_TEST_ENCODER "}",
    "{'model_type':'hyenadna','architectures':['HyenaDNAForCausalLM'],'vocab_size':256,"
    "'d_model':16,'d_inner':24,'max_seq_len':4096,'tie_word_embeddings':false,'n_layer'"
    ":" WEFT_TEST_TEXT(WEFT_TEST_LAYERS) "}",
    "{'model_type':'transformer'," WEFT_TEST_ATTENTION ",'position_embedding':'learned'}",
    "{'model_type':'transformer'," WEFT_TEST_ATTENTION
    ",'norm_position':'post','embedding_norm':true}",
    "{'model_type':'transformer'," WEFT_TEST_CAUSAL ",'tie_word_embeddings':true}",
    "{'model_type':'transformer','task':'classify','num_labels':7,'input':'features',"
    "'input_size':5," WEFT_TEST_SIZES ",'num_attention_heads':4,'position_embedding':'sinusoidal'}",
    "{'model_type':'transformer','vocab_size':256,'task':'retrieve','num_labels':3," WEFT_TEST_SIZES
    ",'num_attention_heads':4,'norm':'scale_norm'}",
    "{'model_type':'performer'," WEFT_TEST_ATTENTION ",'num_features':32}",
    "{'model_type':'performer'," WEFT_TEST_CAUSAL ",'num_features':32}",
    "{'model_type':'cosformer'," WEFT_TEST_ATTENTION "}",
    "{'model_type':'cosformer'," WEFT_TEST_CAUSAL
    ",'cosformer_length':" WEFT_TEST_TEXT(WEFT_TEST_POSITIONS) "}",
    "{'model_type':'fmmformer'," WEFT_TEST_ATTENTION
    ",'half_width':5,'kernels':['elu1','elu1_negated']}",
    "{'model_type':'fmmformer'," WEFT_TEST_CAUSAL ",'half_width':5,'fast_weight':true}",
    "{'model_type':'fmmformer'," WEFT_TEST_CAUSAL
    ",'half_width':5,'fast_weight':['elu1','elu1_negated'],'kernels':['elu1_negated']}",
    "{'model_type':'flt'," WEFT_TEST_ATTENTION ",'position_features':8,'num_features':32}",
    "{'model_type':'flt'," WEFT_TEST_ATTENTION ",'position_features':8,'kernel':'elu1',"
    "'positions':'input','position_size':3}",
    "{'model_type':'flt'," WEFT_TEST_ATTENTION ",'position_features':8,'position_phases':true,"
    "'kernel':'relu','num_features':32,'attention_eps':0.01}",
    WEFT_TEST_SPECTRA ",'component':'positive','weight_matrix':'orf'}",
    WEFT_TEST_SPECTRA ",'component':'positive','weight_matrix':'sorf'}",
    WEFT_TEST_SPECTRA ",'component':'positive','weight_matrix':'qmc'}",
    WEFT_TEST_SPECTRA ",'component':'hybrid','weight_matrix':'orf','features_directions':4}",
    WEFT_TEST_SPECTRA ",'component':'positive','weight_matrix':'gmm','gmm_components':4}",
    WEFT_TEST_SPECTRA ",'component':'positive','weight_matrix':'gmm','gmm_covariance':'full'}",
    WEFT_TEST_SPECTRA ",'component':'positive','weight_matrix':'dgm','dgm_sizes':[6,12]}",
    "{'model_type':'tnn'," WEFT_TEST_AROUND WEFT_TEST_RPE ",'norm':'simple_rms_norm'}",
    "{'model_type':'tnn'," WEFT_TEST_AROUND WEFT_TEST_RPE
    ",'causal':true,'decay':'learned','gtu_norm':true}",
    "{'model_type':'tnn'," WEFT_TEST_AROUND WEFT_TEST_RPE
    ",'decay':'fixed','rpe_norm':'layer_norm'}",
    "{'model_type':'ski-tnn'," WEFT_TEST_AROUND ",'expand_ratio':2,'ski_points':8,'ski_taps':5,"
    "'gamma':0.98}",
    "{'model_type':'fd-tnn'," WEFT_TEST_AROUND WEFT_TEST_RPE ",'norm':'rms_norm'}",
    "{'model_type':'fd-tnn'," WEFT_TEST_AROUND WEFT_TEST_RPE ",'causal':true}",
    "{'model_type':'tnn'," WEFT_TEST_AROUND WEFT_TEST_RPE ",'position_grid':[4,6]}",
};

#endif
