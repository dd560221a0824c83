import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import redis.clients.jedis.Jedis;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

/** What YCSB's own Redis binding does to load a record: HMSET, then ZADD _indices with the key's hashCode. */
public class RedisBinding extends DB {
  private static final String INDEX = "_indices";
  private Jedis jedis;

  @Override
  public void init() {
    jedis = new Jedis("127.0.0.1", Integer.parseInt(getProperties().getProperty("port")));
    jedis.connect();
  }

  @Override
  public void cleanup() {
    jedis.close();
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    if (!jedis.hmset(key, StringByteIterator.getStringMap(values)).equals("OK")) {
      return Status.ERROR;
    }
    jedis.zadd(INDEX, key.hashCode(), key);
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
}
