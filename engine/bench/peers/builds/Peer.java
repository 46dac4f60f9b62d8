import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.lucene.analysis.CharArraySet;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.FSDirectory;

/** Peer indexes lines "name TAB text" with Lucene, without positions, and counts the documents of a word. */
public class Peer {
  public static void main(String[] args) throws Exception {
    try (FSDirectory dir = FSDirectory.open(Path.of(args[1]))) {
      if (args[0].equals("build")) {
        build(dir, Path.of(args[2]));
      } else {
        try (DirectoryReader r = DirectoryReader.open(dir)) {
          System.out.println(new IndexSearcher(r).count(new TermQuery(new Term("text", args[2]))));
        }
      }
    }
  }

  static void build(FSDirectory dir, Path input) throws Exception {
    IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer(CharArraySet.EMPTY_SET));
    config.setRAMBufferSizeMB(512);
    config.setUseCompoundFile(false);
    FieldType type = new FieldType();
    type.setIndexOptions(IndexOptions.DOCS_AND_FREQS);
    type.setTokenized(true);
    type.freeze();
    try (IndexWriter w = new IndexWriter(dir, config);
        BufferedReader in = Files.newBufferedReader(input, StandardCharsets.UTF_8)) {
      for (String line; (line = in.readLine()) != null; ) {
        int tab = line.indexOf('\t');
        Document doc = new Document();
        doc.add(new StringField("name", line.substring(0, Math.max(tab, 0)), Field.Store.YES));
        doc.add(new Field("text", line.substring(tab + 1), type));
        w.addDocument(doc);
      }
      w.forceMerge(1);
    }
  }
}
