package bench

// listsExhibits are those of Lists, in the order in which they run.
func listsExhibits() []exhibit {
	return []exhibit{
		logExhibit(), pairsExhibit(), skewExhibit(), setsExhibit(), primitivesExhibit(),
		aoTable1(), aoTable3(), aoTable4(), aoTable7(),
		aoFigure5(), aoFigure6(), aoFigure9a(), aoFigure9b(),
		wuFigure5(), wuFigure6(), wuFigure8(),
		dingFigure6(),
	}
}

// decodeExhibits are those of Decode.
func decodeExhibits() []exhibit {
	return []exhibit{
		intsExhibit(), coreExhibit(),
		aoTable2(), aoTable5(), aoFigure7(), aoFigure8(),
		dingTable1(), dingFigure3(), dingFigure4(),
	}
}
