package hostfallback

import "heddle/codec"

// codecs are all that the package reads.
var codecs = codec.IDs()
