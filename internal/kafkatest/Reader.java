import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.BufferedWriter;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Prints what a consumer sees in whole topics, one record a line: topic,
 * partition, offset, timestamp, key, value and headers, separated by tabs.
 * Bytes are base64 and null is "-". The last line is "END", a tab and the number
 * of records; without it the output is not complete.
 *
 * Arguments: bootstrap servers, isolation level, output file or "-", topics.
 */
public final class Reader {
  public static void main(String[] args) throws Exception {
    Properties config = new Properties();
    config.put("bootstrap.servers", args[0]);
    config.put("isolation.level", args[1]);
    config.put("enable.auto.commit", "false");
    config.put("auto.offset.reset", "none");
    config.put("key.deserializer", ByteArrayDeserializer.class.getName());
    config.put("value.deserializer", ByteArrayDeserializer.class.getName());
    OutputStream raw = args[2].equals("-") ? System.out : new FileOutputStream(args[2]);
    try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config);
        PrintWriter out = new PrintWriter(
            new BufferedWriter(new OutputStreamWriter(raw, StandardCharsets.UTF_8), 1 << 16))) {
      List<TopicPartition> partitions = new ArrayList<>();
      for (int i = 3; i < args.length; i++) {
        for (PartitionInfo p : consumer.partitionsFor(args[i])) {
          partitions.add(new TopicPartition(p.topic(), p.partition()));
        }
      }
      consumer.assign(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      for (Map.Entry<TopicPartition, Long> start : consumer.beginningOffsets(partitions).entrySet()) {
        consumer.seek(start.getKey(), start.getValue());
      }
      out.println("END\t" + read(consumer, ends, out));
      if (out.checkError()) {
        throw new IllegalStateException("cannot write the output");
      }
    }
  }

  /** Reads until the position of every partition is at its end. */
  private static long read(
      KafkaConsumer<byte[], byte[]> consumer, Map<TopicPartition, Long> ends, PrintWriter out) {
    long count = 0;
    Set<TopicPartition> open = new HashSet<>(ends.keySet());
    while (true) {
      open.removeIf(p -> consumer.position(p) >= ends.get(p));
      if (open.isEmpty()) {
        return count;
      }
      for (ConsumerRecord<byte[], byte[]> r : consumer.poll(Duration.ofMillis(200))) {
        if (r.offset() < ends.get(new TopicPartition(r.topic(), r.partition()))) {
          print(r, out);
          count++;
        }
      }
    }
  }

  private static void print(ConsumerRecord<byte[], byte[]> r, PrintWriter out) {
    StringBuilder headers = new StringBuilder();
    for (Header h : r.headers()) {
      headers.append(headers.length() == 0 ? "" : ",");
      headers.append(encode(h.key().getBytes(StandardCharsets.UTF_8))).append(':').append(encode(h.value()));
    }
    out.println(r.topic() + "\t" + r.partition() + "\t" + r.offset() + "\t" + r.timestamp()
        + "\t" + encode(r.key()) + "\t" + encode(r.value()) + "\t" + headers);
  }

  private static String encode(byte[] bytes) {
    return bytes == null ? "-" : Base64.getEncoder().encodeToString(bytes);
  }
}
