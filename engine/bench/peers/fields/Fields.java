import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.analysis.CharArraySet;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.DisjunctionMaxQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.util.QueryBuilder;

/**
 * Fields indexes lines of texts with TABs between, one for each field, and answers queries from standard input, one a line: clauses
 * "mark weight fields slop text", separated by TABs. The mark is + (must), - (must not) or = (should); fields are name^weight with
 * commas between. A text of several words is a phrase, or, if the slop is AND or OR, a group of mark:fields:word that this joins. An answer is a line of
 * document:score. The arguments are the input, the stop words and the fields with commas between, the number of documents of an answer, and
 * the tie of a DisjunctionMaxQuery of the fields, or -1.
 */
public class Fields {
  public static void main(String[] args) throws Exception {
    List<String> stops = args[1].isEmpty() ? List.of() : List.of(args[1].split(","));
    String[] fields = args[2].split(",");
    tie = Float.parseFloat(args[4]);
    StandardAnalyzer analyzer = new StandardAnalyzer(new CharArraySet(stops, false));
    BM25Similarity similarity = new BM25Similarity(0.9f, 0.4f);
    ByteBuffersDirectory dir = new ByteBuffersDirectory();
    try (IndexWriter w = new IndexWriter(dir, new IndexWriterConfig(analyzer).setSimilarity(similarity));
        BufferedReader in = Files.newBufferedReader(Path.of(args[0]), StandardCharsets.UTF_8)) {
      for (String line; (line = in.readLine()) != null; ) {
        Document doc = new Document();
        String[] texts = line.split("\t", -1);
        for (int i = 0; i < fields.length; i++) {
          if (!texts[i].isEmpty()) {
            doc.add(new TextField(fields[i], texts[i], Field.Store.NO));
          }
        }
        w.addDocument(doc);
      }
      w.forceMerge(1);
    }
    IndexSearcher searcher = new IndexSearcher(DirectoryReader.open(dir));
    searcher.setSimilarity(similarity);
    searcher.setQueryCache(null);
    QueryBuilder builder = new QueryBuilder(analyzer);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    StringBuilder out = new StringBuilder();
    for (String line; (line = in.readLine()) != null; ) {
      for (ScoreDoc d : searcher.search(parse(builder, line), Integer.parseInt(args[3])).scoreDocs) {
        out.append(d.doc).append(':').append(d.score).append(' ');
      }
      out.append('\n');
    }
    System.out.print(out);
  }

  static Query parse(QueryBuilder builder, String line) {
    BooleanQuery.Builder all = new BooleanQuery.Builder();
    for (String clause : line.split("\t")) {
      String[] parts = clause.split(" ", 5);
      Query q;
      if (parts[3].equals("AND") || parts[3].equals("OR")) {
        BooleanQuery.Builder words = new BooleanQuery.Builder();
        for (String word : parts[4].split(" ")) {
          String[] item = word.split(":");
          Occur occur = item[0].equals("-") ? Occur.MUST_NOT : parts[3].equals("AND") ? Occur.MUST : Occur.SHOULD;
          add(words, inFields(builder, item[1], item[2], 0), occur);
        }
        q = built(words);
      } else {
        q = inFields(builder, parts[2], parts[4], Integer.parseInt(parts[3]));
      }
      if (q != null) {
        q = new BoostQuery(q, Float.parseFloat(parts[1]));
      }
      add(all, q, parts[0].equals("+") ? Occur.MUST : parts[0].equals("-") ? Occur.MUST_NOT : Occur.SHOULD);
    }
    return all.build();
  }

  /** tie is the part of the scores in other fields than the best one; negative: scores add up. */
  static float tie = -1;

  /** inFields finds a word or a phrase in any of the fields. It is null for stop words alone. */
  static Query inFields(QueryBuilder builder, String fields, String text, int slop) {
    BooleanQuery.Builder any = new BooleanQuery.Builder();
    List<Query> all = new ArrayList<>();
    for (String field : fields.split(",")) {
      String[] parts = field.split("\\^");
      Query q = builder.createPhraseQuery(parts[0], text, slop);
      if (q != null) {
        all.add(new BoostQuery(q, Float.parseFloat(parts[1])));
        add(any, all.get(all.size() - 1), Occur.SHOULD);
      }
    }
    return tie < 0 ? built(any) : all.isEmpty() ? null : new DisjunctionMaxQuery(all, tie);
  }

  static void add(BooleanQuery.Builder to, Query q, Occur occur) {
    if (q != null) {
      to.add(q, occur);
    }
  }

  /** built is null without a clause that may match: a stop word disappears together with what is excluded from it. */
  static Query built(BooleanQuery.Builder b) {
    BooleanQuery q = b.build();
    return q.clauses().stream().allMatch(c -> c.getOccur() == Occur.MUST_NOT) ? null : q;
  }
}
