import { useEventFold, type EventLog } from '../../../data/event-log.js';
import { useResource } from '../../../data/resource.js';
import { Loading, Problem } from '../../../ui/basics.js';
import { Changes, useReloads } from '../candidates/tab.js';
import { loadCandidates, type Session } from '../data.js';
import { HeatPanel } from './heat/panel.js';
import { LineagePanel } from './lineage/panel.js';

/** What explains a search: where candidates come from, what they solve and what they cost. */
export function WhyTab({ session, log }: { session: Session; log: EventLog }) {
  const id = session.session_id;
  const { times } = useEventFold(log, () => new Changes());
  const { data: candidates, error, reload } = useResource(`candidates ${id}`, (signal) => loadCandidates(id, signal));
  useReloads(times, session.status, reload);
  return (
    <>
      <Problem error={error} />
      {candidates === undefined && !error && <Loading />}
      {candidates && (
        <>
          <LineagePanel candidates={candidates} session={session} />
          <HeatPanel candidates={candidates} session={session} log={log} />
        </>
      )}
    </>
  );
}
