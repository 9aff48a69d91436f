import { useState } from 'preact/hooks';
import type { Event } from '../../../../src/client/index.js';
import { useEventFold, useSlicedFold, type EventLog } from '../../data/event-log.js';
import { count, words } from '../../util/format.js';
import { here } from '../../util/router.js';
import { Badge, Clock, Empty } from '../basics.js';
import { Copy } from '../copy.js';
import { Dialog } from '../dialog.js';
import { VirtualList } from '../virtual-list.js';
import { EventTypes, FilteredEvents, type EventFilter } from './filter.js';

/** The events of a job, live, with a filter. */
export function EventList({ log }: { log: EventLog }) {
  const [filter, setFilter] = useState<EventFilter>({ type: '', text: '' });
  const [opened, setOpened] = useState<Event | null>(null);
  const { counts } = useEventFold(log, () => new EventTypes());
  const { fold, isBehind } = useSlicedFold(log, () => new FilteredEvents(filter), JSON.stringify(filter));
  const { shown } = fold;
  return (
    <section aria-label="Events">
      <div class="filters">
        <input
          type="search"
          aria-label="Search messages"
          placeholder="Search messages"
          value={filter.text}
          onInput={(event) => setFilter({ ...filter, text: event.currentTarget.value })}
        />
        <select
          aria-label="Type"
          value={filter.type}
          onChange={(event) => setFilter({ ...filter, type: event.currentTarget.value })}
        >
          <option value="">All types</option>
          <option value="-rollouts">Without answers</option>
          {[...counts].map(([type, times]) => (
            <option key={type} value={type}>
              {words(type)} ({count(times)})
            </option>
          ))}
        </select>
        <span class="quiet" role="status">
          {shown.length === log.events.length ? '' : `${count(shown.length)} of `}
          {count(log.events.length)} events
        </span>
        <Badge status={log.state.value} />
      </div>
      {shown.length === 0 ? (
        <Empty>
          {log.events.length === 0 ? 'No events yet.' : isBehind ? 'Searching …' : 'No event passes the filter.'}
        </Empty>
      ) : (
        <div class="panel event-list">
          <VirtualList
            count={shown.length}
            rowHeight={30}
            label="Events"
            height="min(70vh, 720px)"
            followEnd
            row={(index) => <EventRow event={shown[index]!} onOpen={setOpened} />}
          />
        </div>
      )}
      {opened && <EventDialog event={opened} onClose={() => setOpened(null)} />}
    </section>
  );
}

function EventRow({ event, onOpen }: { event: Event; onOpen: (event: Event) => void }) {
  return (
    <div class="event">
      <button type="button" class="link-button number" aria-label={`Event ${event.seq}`} onClick={() => onOpen(event)}>
        {event.seq}
      </button>
      <Clock at={event.ts} />
      <span class="event-type quiet">{words(event.type)}</span>
      <span class="event-message" title={event.message}>
        {event.message}
      </span>
      <EventLink event={event} />
    </div>
  );
}

/** The rollout or candidate of an event. */
function EventLink({ event }: { event: Event }) {
  const data = event.data as { trace_id?: string; candidate_id?: string | null };
  if (data.trace_id !== undefined) return <a href={here({ trace: data.trace_id })}>trace</a>;
  if (!data.candidate_id || event.type === 'proposal_failed') return null;
  return <a href={here({ candidate: data.candidate_id })}>candidate</a>;
}

function EventDialog({ event, onClose }: { event: Event; onClose: () => void }) {
  const { seq, ts, type, message, data } = event;
  const json = JSON.stringify({ seq, ts, type, message, data }, null, 2);
  return (
    <Dialog title={`Event ${seq}: ${words(type)}`} onClose={onClose}>
      <pre>{json}</pre>
      <p class="bar">
        <Copy text={json} />
      </p>
    </Dialog>
  );
}
