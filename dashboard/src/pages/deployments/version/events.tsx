import { useEventLog } from '../../../data/event-log.js';
import { Badge, Clock, Panel } from '../../../ui/basics.js';

/** What happened to a version, live until it is ready or has failed. */
export function DeploymentEvents({ id }: { id: string }) {
  const log = useEventLog(id);
  void log.version.value;
  return (
    <Panel
      title="Events"
      aside={
        log.state.value !== 'ended' && (
          <Badge status={log.state.value} text={log.state.value === 'live' ? 'following' : log.state.value} />
        )
      }
    >
      <ol class="log" aria-live="polite">
        {log.events.map((event) => (
          <li key={event.seq} class={event.type === 'error' || event.type === 'job_failed' ? 'bad' : undefined}>
            <Clock at={event.ts} /> {event.message}
          </li>
        ))}
      </ol>
    </Panel>
  );
}
