package demo

// queries are asked in this order. Among them: one word and many, frequent and
// rare, a word thrice, and words that the text has not.
var queries = []string{
	"in the beginning",
	"let there be light",
	"jesus wept",
	"faith hope charity",
	"the lord is my shepherd",
	"heaven and earth",
	"holy holy holy",
	"vanity of vanities",
	"love thy neighbour",
	"lion lamb",
	"swords plowshares",
	"milk and honey",
	"gold frankincense myrrh",
	"sackcloth and ashes",
	"king's daughter",
	"blessed are the meek",
	"methuselah",
	"begat",
	"unicorn",
	"mahershalalhashbaz",
	"of the and",
	"and",
	"the lord said unto moses speak unto the children of israel",
	"computer",
	"let there be computers",
}
