#pragma once
#define CURL_NO_OLDIES 1
#include <curl/curl.h>
