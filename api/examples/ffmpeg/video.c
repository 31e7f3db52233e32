/* SPDX-License-Identifier: MIT */
#include "video.h"

#include <stdio.h>
#include <string.h>

bool video_check(int result, const char *call) {
    if (result < 0) {
        char text[AV_ERROR_MAX_STRING_SIZE];
        av_strerror(result, text, sizeof text);
        fprintf(stderr, "%s: %s\n", call, text);
    }
    return result >= 0;
}

/* ---- reading ---- */

bool video_open(video *v, const char *path) {
    const AVCodec *codec = NULL;
    *v = (video){0};
    if (!video_check(avformat_open_input(&v->file, path, NULL, NULL), path) ||
        !video_check(avformat_find_stream_info(v->file, NULL), "avformat_find_stream_info")) {
        return false;
    }
    v->stream = av_find_best_stream(v->file, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
    if (!video_check(v->stream, "av_find_best_stream")) {
        return false;
    }
    v->packet = av_packet_alloc();
    v->decoder = avcodec_alloc_context3(codec);
    return v->packet && v->decoder &&
           video_check(
               avcodec_parameters_to_context(v->decoder, v->file->streams[v->stream]->codecpar),
               "avcodec_parameters_to_context") &&
           video_check(avcodec_open2(v->decoder, codec, NULL), "avcodec_open2");
}

void video_close(video *v) {
    av_packet_free(&v->packet);
    avcodec_free_context(&v->decoder);
    avformat_close_input(&v->file);
}

/* The next packet of the video's stream, or the end, to the decoder. */
static bool send_packet(video *v) {
    int result = av_read_frame(v->file, v->packet);
    while (result >= 0 && v->packet->stream_index != v->stream) {
        av_packet_unref(v->packet);
        result = av_read_frame(v->file, v->packet);
    }
    if (result == AVERROR_EOF) {
        v->ended = true;
        return video_check(avcodec_send_packet(v->decoder, NULL), "avcodec_send_packet");
    }
    if (!video_check(result, "av_read_frame")) {
        return false;
    }
    result = avcodec_send_packet(v->decoder, v->packet);
    av_packet_unref(v->packet);
    return video_check(result, "avcodec_send_packet");
}

bool video_read(video *v, AVFrame *frame, bool *end) {
    int result = avcodec_receive_frame(v->decoder, frame);
    while (result == AVERROR(EAGAIN) && !v->ended) {
        if (!send_packet(v)) {
            return false;
        }
        result = avcodec_receive_frame(v->decoder, frame);
    }
    *end = result == AVERROR_EOF;
    return *end || video_check(result, "avcodec_receive_frame");
}

/* ---- making ---- */

typedef struct maker {
    AVFormatContext *file;
    AVCodecContext *encoder;
    AVStream *stream;
    AVFrame *frame;
    AVPacket *packet;
} maker;

static bool begin(maker *m, const char *path) {
    const AVCodec *codec = avcodec_find_encoder(AV_CODEC_ID_FFV1);
    if (!codec ||
        !video_check(avformat_alloc_output_context2(&m->file, NULL, "matroska", path), path)) {
        return false;
    }
    m->stream = avformat_new_stream(m->file, NULL);
    m->encoder = avcodec_alloc_context3(codec);
    m->frame = av_frame_alloc();
    m->packet = av_packet_alloc();
    if (!m->stream || !m->encoder || !m->frame || !m->packet) {
        return false;
    }
    m->encoder->width = m->frame->width = VIDEO_WIDTH;
    m->encoder->height = m->frame->height = VIDEO_HEIGHT;
    m->encoder->pix_fmt = AV_PIX_FMT_YUV420P;
    m->frame->format = AV_PIX_FMT_YUV420P;
    m->encoder->color_range = AVCOL_RANGE_MPEG;
    m->encoder->time_base = m->stream->time_base = (AVRational){1, 25};
    m->encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    return video_check(avcodec_open2(m->encoder, codec, NULL), "avcodec_open2") &&
           video_check(avcodec_parameters_from_context(m->stream->codecpar, m->encoder),
                       "avcodec_parameters_from_context") &&
           video_check(av_frame_get_buffer(m->frame, 0), "av_frame_get_buffer") &&
           video_check(avio_open(&m->file->pb, path, AVIO_FLAG_WRITE), path) &&
           video_check(avformat_write_header(m->file, NULL), "avformat_write_header");
}

/* What the encoder has ready. */
static bool write_packets(maker *m) {
    int result = avcodec_receive_packet(m->encoder, m->packet);
    while (result >= 0) {
        av_packet_rescale_ts(m->packet, m->encoder->time_base, m->stream->time_base);
        m->packet->stream_index = m->stream->index;
        if (!video_check(av_interleaved_write_frame(m->file, m->packet),
                         "av_interleaved_write_frame")) {
            return false;
        }
        result = avcodec_receive_packet(m->encoder, m->packet);
    }
    return result == AVERROR(EAGAIN) || result == AVERROR_EOF ||
           video_check(result, "avcodec_receive_packet");
}

/* Grey on black, from 16 to 235. */
static void paint(AVFrame *frame, const uint8_t *values) {
    const int left = (VIDEO_WIDTH - 4 * PHOTO_SIDE) / 2, top = (VIDEO_HEIGHT - 4 * PHOTO_SIDE) / 2;
    for (int y = 0; y < VIDEO_HEIGHT; y++) {
        memset(frame->data[0] + (ptrdiff_t)y * frame->linesize[0], 16, VIDEO_WIDTH);
    }
    for (int plane = 1; plane < 3; plane++) {
        for (int y = 0; y < VIDEO_HEIGHT / 2; y++) {
            memset(frame->data[plane] + (ptrdiff_t)y * frame->linesize[plane], 128,
                   VIDEO_WIDTH / 2);
        }
    }
    for (int i = 0; i < 16 * PHOTO_SIDE * PHOTO_SIDE; i++) {
        const int x = i % (4 * PHOTO_SIDE), y = i / (4 * PHOTO_SIDE);
        const int value = values[photo_place((uint32_t)x / 4, (uint32_t)y / 4)];
        frame->data[0][(ptrdiff_t)(top + y) * frame->linesize[0] + left + x] =
            (uint8_t)(16 + value * 219 / 255);
    }
}

static bool write_photo(maker *m, const uint8_t *values, uint32_t index) {
    if (!video_check(av_frame_make_writable(m->frame), "av_frame_make_writable")) {
        return false;
    }
    paint(m->frame, values);
    m->frame->pts = index;
    return video_check(avcodec_send_frame(m->encoder, m->frame), "avcodec_send_frame") &&
           write_packets(m);
}

/* Evenly spread over those there are. */
static uint32_t photo_of(const photos *from, uint32_t index, uint32_t count) {
    return (uint32_t)((uint64_t)index * from->count / count);
}

bool video_make(const char *path, const photos *from, uint32_t count) {
    maker m = {0};
    bool fine = begin(&m, path);
    for (uint32_t i = 0; i < count && fine; i++) {
        fine = write_photo(&m, from->pixels + (size_t)photo_of(from, i, count) * PHOTO_VALUES, i);
    }
    fine = fine && video_check(avcodec_send_frame(m.encoder, NULL), "avcodec_send_frame") &&
           write_packets(&m) && video_check(av_write_trailer(m.file), "av_write_trailer");
    av_packet_free(&m.packet);
    av_frame_free(&m.frame);
    avcodec_free_context(&m.encoder);
    if (m.file) {
        fine = video_check(avio_closep(&m.file->pb), path) && fine;
        avformat_free_context(m.file);
    }
    return fine;
}
