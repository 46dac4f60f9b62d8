import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.DoubleDocValuesField;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.LongPoint;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.SortedDocValuesField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.FieldDoc;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopFieldCollector;
import org.apache.lucene.search.TopFieldDocs;
import org.apache.lucene.search.grouping.GroupDocs;
import org.apache.lucene.search.grouping.GroupingSearch;
import org.apache.lucene.search.grouping.TopGroups;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.util.BytesRef;

/**
 * Orders indexes lines of the fields book (a text), number, chapter (integers), part (a float) and text, with TABs between; an empty field
 * is a missing value. It answers queries from standard input, one a line: words with the marks + and - and weights, the greatest chapter,
 * keys of the order with commas between, the field to collapse, the documents per value, and the number of documents. An answer is the
 * number of matching documents, and document:score for each document.
 */
public class Orders {
  static final String[] COLUMNS = {"book", "number", "chapter", "part"};

  public static void main(String[] args) throws Exception {
    BM25Similarity similarity = new BM25Similarity(0.9f, 0.4f);
    ByteBuffersDirectory dir = new ByteBuffersDirectory();
    try (IndexWriter w = new IndexWriter(dir, new IndexWriterConfig(new StandardAnalyzer()).setSimilarity(similarity));
        BufferedReader in = Files.newBufferedReader(Path.of(args[0]), StandardCharsets.UTF_8)) {
      for (String line; (line = in.readLine()) != null; ) {
        w.addDocument(document(line.split("\t", -1)));
      }
      w.forceMerge(1);
    }
    IndexSearcher searcher = new IndexSearcher(DirectoryReader.open(dir));
    searcher.setSimilarity(similarity);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    StringBuilder out = new StringBuilder();
    for (String line; (line = in.readLine()) != null; ) {
      answer(searcher, line.split("\t", -1), out);
    }
    System.out.print(out);
  }

  static Document document(String[] fields) {
    Document doc = new Document();
    doc.add(new TextField("text", fields[4], Field.Store.NO));
    for (int i = 0; i < COLUMNS.length; i++) {
      if (fields[i].isEmpty()) {
        continue;
      }
      doc.add(new SortedDocValuesField("group " + COLUMNS[i], new BytesRef(fields[i])));
      switch (COLUMNS[i]) {
        case "book":
          doc.add(new SortedDocValuesField("book", new BytesRef(fields[i])));
          break;
        case "part":
          doc.add(new DoubleDocValuesField("part", Double.parseDouble(fields[i])));
          break;
        default:
          doc.add(new NumericDocValuesField(COLUMNS[i], Long.parseLong(fields[i])));
          doc.add(new LongPoint(COLUMNS[i] + " point", Long.parseLong(fields[i])));
      }
    }
    return doc;
  }

  static void answer(IndexSearcher searcher, String[] fields, StringBuilder out) throws IOException {
    Query query = query(fields[0], fields[1]);
    List<SortField> keys = new ArrayList<>();
    for (String key : fields[2].split(",")) {
      keys.add(key(key));
    }
    keys.add(SortField.FIELD_DOC);
    keys.add(SortField.FIELD_SCORE); // for the answer
    Sort sort = new Sort(keys.toArray(new SortField[0]));
    int n = Integer.parseInt(fields[5]);
    long total;
    ScoreDoc[] docs;
    if (fields[3].isEmpty()) {
      TopFieldCollector top = TopFieldCollector.create(sort, n, Integer.MAX_VALUE);
      searcher.search(query, top);
      TopFieldDocs found = top.topDocs();
      total = found.totalHits.value;
      docs = found.scoreDocs;
    } else {
      GroupingSearch search = new GroupingSearch("group " + fields[3]).setGroupSort(sort).setSortWithinGroup(sort).setGroupDocsLimit(Integer.parseInt(fields[4]));
      TopGroups<BytesRef> groups = search.search(searcher, query, 0, n);
      total = groups.totalHitCount;
      List<TopFieldDocs> parts = new ArrayList<>();
      for (GroupDocs<BytesRef> g : groups.groups) {
        parts.add(new TopFieldDocs(g.totalHits, g.scoreDocs, sort.getSort()));
      }
      docs = TopDocs.merge(sort, n, parts.toArray(new TopFieldDocs[0])).scoreDocs;
    }
    out.append(total);
    for (ScoreDoc d : docs) {
      out.append(' ').append(d.doc).append(':').append(((FieldDoc) d).fields[keys.size() - 1]);
    }
    out.append('\n');
  }

  static Query query(String words, String chapter) {
    BooleanQuery.Builder all = new BooleanQuery.Builder();
    if (words.isEmpty()) {
      all.add(new MatchAllDocsQuery(), Occur.MUST);
    } else {
      BooleanQuery.Builder text = new BooleanQuery.Builder();
      for (String word : words.split(" ")) {
        Occur occur = word.startsWith("+") ? Occur.MUST : word.startsWith("-") ? Occur.MUST_NOT : Occur.SHOULD;
        String[] parts = (occur == Occur.SHOULD ? word : word.substring(1)).split("\\^");
        Query term = new TermQuery(new Term("text", parts[0]));
        text.add(parts.length == 1 ? term : new BoostQuery(term, Float.parseFloat(parts[1])), occur);
      }
      all.add(text.build(), Occur.MUST);
    }
    if (!chapter.isEmpty()) {
      all.add(LongPoint.newRangeQuery("chapter point", Long.MIN_VALUE, Long.parseLong(chapter)), Occur.FILTER);
    }
    return all.build();
  }

  /** key is a key of an order, such as "chapter desc". Missing values come last. */
  static SortField key(String text) {
    String name = text.split(" ")[0];
    boolean down = text.endsWith(" desc");
    SortField field;
    switch (name) {
      case "score":
        return new SortField(null, SortField.Type.SCORE, text.endsWith(" asc"));
      case "book":
        field = new SortField(name, SortField.Type.STRING, down);
        field.setMissingValue(down ? SortField.STRING_FIRST : SortField.STRING_LAST);
        return field;
      case "part":
        field = new SortField(name, SortField.Type.DOUBLE, down);
        field.setMissingValue(down ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY);
        return field;
      default:
        field = new SortField(name, SortField.Type.LONG, down);
        field.setMissingValue(down ? Long.MIN_VALUE : Long.MAX_VALUE);
        return field;
    }
  }
}
