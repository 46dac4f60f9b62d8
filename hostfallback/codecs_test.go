package hostfallback

import "heddle/codec"

// codecs are all that the package reads.
var codecs = append(codec.IDs(), codec.VByte, codec.Rice, codec.PFD, codec.NewPFD, codec.RPFD, codec.LRC, codec.LRCSeg, codec.SegLRC, codec.HSLRC128, codec.HSLRC256)
