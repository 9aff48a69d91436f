import { useEffect, useRef } from 'preact/hooks';
import { useEventFold, useEventLog, type EventLog } from '../../data/event-log.js';
import { useResource } from '../../data/resource.js';
import { route, setQuery } from '../../router.js';
import { Loading, Problem } from '../../ui/basics.js';
import { EventList } from '../../ui/events/list.js';
import { TraceDialog } from '../../ui/trace/dialog.js';
import { currentTab, Tabs } from '../../ui/tabs.js';
import { CandidateDialog } from './candidate/dialog.js';
import { CandidatesTab } from './candidates/tab.js';
import { CurvePanel } from './curve-panel.js';
import { Curve } from './curve.js';
import { loadResults, loadSession } from './data.js';
import { isActive, type Results, type Session, type Status } from './types.js';
import { Figures } from './figures.js';
import { Head } from './head.js';
import { PromptTab } from './prompt-tab.js';
import { VerdictPanel } from './verdict-panel.js';

const pollMs = 2_000;
const tabs = ['overview', 'candidates', 'prompt', 'events'] as const;
const labels = { overview: 'Overview', candidates: 'Candidates', prompt: 'Prompt', events: 'Events' };

/** A session: live while it runs. */
export function SessionPage({ id }: { id: string }) {
  const log = useEventLog(id);
  const session = useSession(id);
  const active = session.data === undefined || isActive(session.data.status);
  const results = useResource(`results ${id}`, (signal) => loadResults(id, signal), active ? pollMs : null);
  const reload = () => Promise.all([session.reload(), results.reload()]);
  useAtEnd(log, session.data?.status, reload);
  if (!session.data) return session.error ? <Problem error={session.error} /> : <Loading />;
  const onDone = async () => {
    await reload();
    // The events of an extended session go on.
    log.start();
  };
  return (
    <>
      <Head session={session.data} onDone={onDone} />
      <Problem error={session.error ?? results.error} />
      <Tabs names={tabs} labels={labels} />
      <Tab session={session.data} results={results.data} log={log} />
      <Opened session={session.data} />
    </>
  );
}

/** The session, asked again while it is active. */
function useSession(id: string) {
  const status = useRef<{ id: string; value: Status | undefined }>({ id, value: undefined });
  if (status.current.id !== id) status.current = { id, value: undefined };
  const isOver = status.current.value !== undefined && !isActive(status.current.value);
  const session = useResource(`session ${id}`, (signal) => loadSession(id, signal), isOver ? null : pollMs);
  status.current.value = session.data?.status;
  return session;
}

/** Reads the last state when the events have ended or the status has changed. */
function useAtEnd(log: EventLog, status: Status | undefined, reload: () => Promise<unknown>): void {
  const state = log.state.value;
  useEffect(() => {
    if (status !== undefined) void reload();
  }, [state === 'ended', status]);
}

function Tab({ session, results, log }: { session: Session; results: Results | undefined; log: EventLog }) {
  switch (currentTab(tabs)) {
    case 'overview':
      return <Overview session={session} results={results} log={log} />;
    case 'candidates':
      return <CandidatesTab session={session} log={log} />;
    case 'prompt':
      return <PromptTab session={session} results={results} />;
    case 'events':
      return <EventList log={log} />;
  }
}

function Overview({ session, results, log }: { session: Session; results: Results | undefined; log: EventLog }) {
  const curve = useEventFold(log, () => new Curve());
  return (
    <>
      <Figures session={session} results={results} curve={curve} />
      <CurvePanel curve={curve} results={results} />
      <VerdictPanel session={session} results={results} />
    </>
  );
}

/** The candidate and the trace of the address. */
function Opened({ session }: { session: Session }) {
  const { query } = route.value;
  const [candidate, trace] = [query.get('candidate'), query.get('trace')];
  const id = session.session_id;
  return (
    <>
      {candidate && <CandidateDialog key={candidate} session={session} candidateId={candidate} />}
      {trace && <TraceDialog key={trace} jobId={id} traceId={trace} onClose={() => setQuery({ trace: null })} />}
    </>
  );
}
