package bench

// listsExhibits are those of Lists, in the order in which they run.
func listsExhibits() []exhibit {
	return []exhibit{
		logExhibit(),
		aoTable1(), aoTable4(),
		aoFigure5(), aoFigure6(),
		wuFigure3(), wuFigure4(),
	}
}

// decodeExhibits are those of Decode.
func decodeExhibits() []exhibit {
	return []exhibit{
		intsExhibit(),
	}
}
