import { useMemo } from 'preact/hooks';
import { useEventFold, type EventLog } from '../../../data/event-log.js';
import { useResource } from '../../../data/resource.js';
import { Loading, Problem } from '../../../ui/basics.js';
import { isActive } from '../../../data/job.js';
import { Changes, useReloads } from '../../search/candidates/tab.js';
import { sessionCandidates } from '../../../data/candidates.js';
import { client } from '../../../data/client.js';
import { HeatPanel } from './heat/panel.js';
import { LineagePanel } from './lineage/panel.js';
import { LeversPanel } from './levers/panel.js';
import { Frames } from '../../../data/session/frames.js';
import { ParetoPanel } from './pareto/panel.js';
import { SensorsPanel } from './sensors/panel.js';
import type { Session } from '../../../data/session/types.js';

/** What explains a search: where candidates come from, what they solve and what they cost. */
export function WhyTab({ session, log }: { session: Session; log: EventLog }) {
  const id = session.session_id;
  const { times } = useEventFold(log, () => new Changes());
  const {
    data: candidates,
    error,
    reload,
  } = useResource(`candidates ${id}`, (signal) => sessionCandidates(id, signal));
  // An extension replaces the last frames.
  const reader = useMemo(() => new Frames(id), [id, isActive(session.status)]);
  const frames = useResource(`frames ${id}`, (signal) => reader.read(signal));
  const path = { session_id: id };
  const pareto = useResource(`pareto ${id}`, (signal) => client.value.request('getSessionPareto', { path, signal }));
  const levers = useResource(`levers ${id}`, (signal) => client.value.request('listSessionLevers', { path, signal }));
  useReloads(times, session.status, reload);
  useReloads(times, session.status, levers.reload);
  useReloads(times, session.status, frames.reload);
  useReloads(session.candidates.filter(({ reward }) => reward !== null).length, session.status, pareto.reload);
  return (
    <>
      <Problem error={error ?? frames.error ?? pareto.error ?? levers.error} />
      {candidates === undefined && !error && <Loading />}
      {candidates && (
        <>
          <LineagePanel candidates={candidates} session={session} />
          <HeatPanel candidates={candidates} session={session} log={log} />
          {frames.data && pareto.data && (
            <ParetoPanel candidates={candidates} frames={frames.data} pareto={pareto.data} />
          )}
          {frames.data && levers.data && <SensorsPanel frames={frames.data} levers={levers.data.data} />}
          {levers.data && <LeversPanel jobId={id} levers={levers.data.data} />}
        </>
      )}
    </>
  );
}
