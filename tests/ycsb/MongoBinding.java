import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.InsertManyOptions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import org.bson.Document;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * What YCSB's own MongoDB binding does to load a record: database ycsb, _id the key, each field a Binary, in batches.
 * Run as a program, it prints the collection's count and size: MongoBinding PORT.
 */
public class MongoBinding extends DB {
  private static final int BATCH = 1000;
  private MongoClient client;
  private MongoCollection<Document> collection;
  private final List<Document> batch = new ArrayList<>();

  private static MongoClient connect(String port) {
    return MongoClients.create("mongodb://127.0.0.1:" + port);
  }

  @Override
  public void init() {
    client = connect(getProperties().getProperty("port"));
    collection = client.getDatabase("ycsb").getCollection("usertable").withWriteConcern(WriteConcern.W1);
  }

  @Override
  public void cleanup() throws DBException {
    flush();
    client.close();
  }

  private void flush() {
    if (!batch.isEmpty()) {
      collection.insertMany(batch, new InsertManyOptions().ordered(false));
      batch.clear();
    }
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    Document document = new Document("_id", key);
    for (Map.Entry<String, ByteIterator> value : values.entrySet()) {
      document.put(value.getKey(), value.getValue().toArray());
    }
    batch.add(document);
    if (batch.size() == BATCH) {
      flush();
    }
    return Status.OK;
  }

  @Override
  public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    return Status.NOT_IMPLEMENTED;
  }

  @Override
  public Status scan(String table, String start, int count, Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    return Status.NOT_IMPLEMENTED;
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    return Status.NOT_IMPLEMENTED;
  }

  @Override
  public Status delete(String table, String key) {
    return Status.NOT_IMPLEMENTED;
  }

  public static void main(String[] arguments) {
    try (MongoClient client = connect(arguments[0])) {
      Document stats = client.getDatabase("ycsb").runCommand(new Document("collStats", "usertable"));
      System.out.println(stats.get("count") + " " + stats.get("size"));
    }
  }
}
