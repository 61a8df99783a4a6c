import io.openlineage.client.OpenLineage;
import io.openlineage.client.OpenLineageClient;
import io.openlineage.client.transports.HttpTransport;
import java.net.URI;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.UUID;

/** One run event, as a Java job sends it. */
public class Main {
  public static void main(String[] args) {
    OpenLineage events = new OpenLineage(URI.create("https://github.com/OpenLineage/OpenLineage/tree/main/client/java"));
    OpenLineageClient client = OpenLineageClient.builder()
        .transport(HttpTransport.builder().uri(System.getenv("OPENLINEAGE_URL")).apiKey(System.getenv("OPENLINEAGE_API_KEY")).build())
        .build();
    client.emit(events.newRunEventBuilder()
        .eventType(OpenLineage.RunEvent.EventType.COMPLETE)
        .eventTime(ZonedDateTime.now())
        .run(events.newRunBuilder().runId(UUID.randomUUID()).build())
        .job(events.newJobBuilder().namespace("interop").name("java.load").build())
        .inputs(List.of(events.newInputDatasetBuilder().namespace("postgres://warehouse:5432").name("java.in").build()))
        .outputs(List.of(events.newOutputDatasetBuilder().namespace("postgres://warehouse:5432").name("java.out").build()))
        .build());
  }
}
