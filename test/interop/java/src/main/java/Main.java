import io.openlineage.client.OpenLineage;
import io.openlineage.client.OpenLineage.RunEvent.EventType;
import io.openlineage.client.OpenLineageClient;
import io.openlineage.client.transports.ApiKeyTokenProvider;
import io.openlineage.client.transports.HttpConfig;
import io.openlineage.client.transports.HttpTransport;
import java.net.URI;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.UUID;

/** One run, as a Java job sends it: what it reads when it starts, and what it has written, compressed, when it ends. */
public class Main {
  public static void main(String[] args) {
    OpenLineage events = new OpenLineage(URI.create("https://github.com/OpenLineage/OpenLineage/tree/main/client/java"));
    OpenLineage.Run run = events.newRunBuilder().runId(UUID.randomUUID()).build();
    OpenLineage.Job job = events.newJobBuilder().namespace("interop").name("java.load").build();
    client(null).emit(events.newRunEventBuilder().eventType(EventType.START).eventTime(ZonedDateTime.now()).run(run).job(job)
        .inputs(List.of(events.newInputDatasetBuilder().namespace("postgres://warehouse:5432").name("java.in").build()))
        .build());
    client(HttpConfig.Compression.GZIP).emit(events.newRunEventBuilder().eventType(EventType.COMPLETE).eventTime(ZonedDateTime.now()).run(run).job(job)
        .outputs(List.of(events.newOutputDatasetBuilder().namespace("postgres://warehouse:5432").name("java.out").build()))
        .build());
  }

  private static OpenLineageClient client(HttpConfig.Compression compression) {
    ApiKeyTokenProvider key = new ApiKeyTokenProvider();
    key.setApiKey(System.getenv("OPENLINEAGE_API_KEY"));
    HttpConfig config = new HttpConfig();
    config.setUrl(URI.create(System.getenv("OPENLINEAGE_URL")));
    config.setAuth(key);
    config.setCompression(compression);
    return OpenLineageClient.builder().transport(new HttpTransport(config)).build();
  }
}
