import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Event } from '../../../../../src/client/index.js';
import type { EventFold } from '../../../data/event-fold.js';
import { useEventFold, type EventLog } from '../../../data/event-log.js';
import { useResource } from '../../../data/resource.js';
import { count, words } from '../../../util/format.js';
import { route, setQuery } from '../../../util/router.js';
import { Empty, Loading, Problem } from '../../../ui/basics.js';
import { numberOf, type Candidate, type Results, type SearchJob } from '../../../data/search.js';
import { CandidatesTable } from './table.js';

const settleMs = 1_500;

/** Counts the events that change the list. */
export class Changes implements EventFold {
  times = 0;

  add({ type }: { type: string }): void {
    if (type.startsWith('candidate_')) this.times += 1;
  }
}

/** Proposals that became no candidate, by the number that it would have had. */
class Unproposed implements EventFold {
  readonly reasons = new Map<string, string>();

  add(event: Event): void {
    if (event.type === 'proposal_failed') this.reasons.set(event.data.candidate_id, event.data.reason);
  }
}

/** All candidates of a search; read again when events tell of changes. */
export function CandidatesTab(props: {
  job: SearchJob;
  results: Results | undefined;
  bestId: string | null;
  log: EventLog;
  load: (id: string, signal: AbortSignal) => Promise<Candidate[]>;
}) {
  const { job, results, log, load, bestId } = props;
  const { job_id: id } = job;
  const { data: candidates, error, reload } = useResource(`candidates ${id}`, (signal) => load(id, signal));
  const { times } = useEventFold(log, () => new Changes());
  useReloads(times, job.status, reload);
  const status = route.value.query.get('status');
  const shown = useMemo(
    () => candidates?.filter((candidate) => status === null || kindOf(candidate) === status),
    [candidates, status],
  );
  return (
    <section aria-label="Candidates">
      <Problem error={error} />
      {candidates === undefined && !error && <Loading />}
      {candidates?.length === 0 && <Empty>No candidates yet.</Empty>}
      {candidates && candidates.length > 0 && shown && (
        <>
          <div class="filters">
            <StatusFilter candidates={candidates} status={status} />
            <span class="quiet" role="status">
              {count(shown.length)} {shown.length === 1 ? 'candidate' : 'candidates'}
            </span>
          </div>
          <CandidatesTable candidates={shown} bestId={bestId} job={job} results={results} />
          <Missing log={log} />
        </>
      )}
    </section>
  );
}

/** Why numbers are missing in the list. */
function Missing({ log }: { log: EventLog }) {
  const { reasons } = useEventFold(log, () => new Unproposed());
  const byReason = [...Map.groupBy(reasons, ([, reason]) => reason)];
  return byReason.map(([reason, of]) => (
    <p key={reason} class="quiet">
      {of.map(([id]) => numberOf(id)).join(', ')} became no candidate: {reason}.
    </p>
  ));
}

const kindOf = ({ status, decision }: Candidate): string => (status === 'proposed' ? decision.outcome : status);

function StatusFilter({ candidates, status }: { candidates: Candidate[]; status: string | null }) {
  const kinds = Object.entries(Object.groupBy(candidates, kindOf));
  return (
    <select
      aria-label="Status"
      value={status ?? ''}
      onChange={(event) => setQuery({ status: event.currentTarget.value || null })}
    >
      <option value="">Any status</option>
      {kinds.map(([kind, of]) => (
        <option key={kind} value={kind}>
          {words(kind)} ({of!.length})
        </option>
      ))}
    </select>
  );
}

/** Reads again some time after a change, so that a burst of events is one request. */
export function useReloads(changes: number, status: string, reload: () => Promise<void>): void {
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false;
      return;
    }
    timer.current ??= setTimeout(() => {
      timer.current = null;
      void reload();
    }, settleMs);
  }, [changes, status, reload]);
  useEffect(() => () => clearTimeout(timer.current ?? undefined), []);
}
