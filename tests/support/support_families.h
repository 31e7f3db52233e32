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
