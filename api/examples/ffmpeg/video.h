/* SPDX-License-Identifier: MIT */
/* Videos: reading their frames, and making one of photographs. */
#ifndef FFMPEG_VIDEO_H
#define FFMPEG_VIDEO_H

#include <stdbool.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "photos.h"

typedef struct video {
    AVFormatContext *file;
    AVCodecContext *decoder;
    AVPacket *packet;
    int stream;
    bool ended; /* all packets have been sent */
} video;

/* Says on stderr which call failed, and how. */
bool video_check(int result, const char *call);

bool video_open(video *v, const char *path);
void video_close(video *v);

/* The next frame in *frame, or *end. */
bool video_read(video *v, AVFrame *frame, bool *end);

enum { VIDEO_WIDTH = 160, VIDEO_HEIGHT = 120 }; /* of those that are made */

/* FFV1, which loses nothing: `count` photographs, evenly spread over those there are, a frame each. */
bool video_make(const char *path, const photos *from, uint32_t count);

#endif
