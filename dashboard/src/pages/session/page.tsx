import { useEventFold, useEventLog, type EventLog } from '../../data/event-log.js';
import { useResource } from '../../data/resource.js';
import { route } from '../../util/router.js';
import { Loading, Problem } from '../../ui/basics.js';
import { DatasetLink } from '../../ui/dataset-link.js';
import { EventList } from '../../ui/events/list.js';
import { TraceFromAddress } from '../../ui/trace/from-address.js';
import { currentTab, TabPanel, Tabs } from '../../ui/tabs.js';
import { SessionCandidate } from './candidate/dialog.js';
import { CandidatesTab } from '../search/candidates/tab.js';
import { CurvePanel } from '../search/curve-panel.js';
import { Curve } from '../search/curve.js';
import { Figures } from '../search/figures.js';
import { pollMs, useAtEnd, useJob } from '../search/follow.js';
import { ConfigurationTab } from '../configuration/tab.js';
import { Head } from '../job/head.js';
import { isActive } from '../../data/job.js';
import { VerdictPanel } from '../search/verdict-panel.js';
import { Actions } from './actions.js';
import { SessionDiagnosis } from './diagnosis.js';
import { sessionCandidates } from '../../data/candidates.js';
import { client } from '../../data/client.js';
import { firstOfSearch } from '../../data/first-reward.js';
import { PromptTab } from './prompt-tab.js';
import { SessionRows } from './rows-tab.js';
import type { Results, Session } from '../../data/session/types.js';
import { WinnerPanel } from './winner-panel.js';
import { WhyTab } from './why/tab.js';

const tabs = ['overview', 'rows', 'candidates', 'why', 'prompt', 'configuration', 'events'] as const;
const labels = {
  overview: 'Overview',
  rows: 'Rows',
  candidates: 'Candidates',
  why: 'Why',
  prompt: 'Prompt',
  configuration: 'Configuration',
  events: 'Events',
};

/** A session: live while it runs. */
export function SessionPage({ id }: { id: string }) {
  const log = useEventLog(id);
  const session = useJob(id, (signal) => client.value.sessions.handle(id).get({ signal }));
  const active = session.data === undefined || isActive(session.data.status);
  const results = useResource(
    `results ${id}`,
    (signal) => client.value.sessions.handle(id).results({}, { signal }),
    active ? pollMs : null,
  );
  const reload = () => Promise.all([session.reload(), results.reload()]);
  useAtEnd(log, session.data?.status, reload);
  // What the results show would move the rest.
  const isRead = results.data !== undefined || results.error !== undefined;
  if (!session.data || !isRead) return session.error ? <Problem error={session.error} /> : <Loading />;
  const onDone = async () => {
    await reload();
    // The events of an extended session go on.
    log.start();
  };
  return (
    <>
      <Head
        job={session.data}
        kind="session"
        log={log}
        first={firstOfSearch(session.data, results.data)}
        facts={session.data.dataset && <DatasetLink dataset={session.data.dataset} />}
        actions={<Actions session={session.data} results={results.data} onDone={onDone} />}
      />
      <Problem error={session.error ?? results.error} />
      <Tabs names={tabs} labels={labels} />
      <TabPanel names={tabs}>
        <Tab session={session.data} results={results.data} log={log} onDone={onDone} />
      </TabPanel>
      <Opened session={session.data} results={results.data} />
    </>
  );
}

interface TabProps {
  session: Session;
  results: Results | undefined;
  log: EventLog;
  onDone: () => Promise<unknown>;
}

function Tab({ session, results, log, onDone }: TabProps) {
  switch (currentTab(tabs)) {
    case 'overview':
      return <Overview session={session} results={results} log={log} onDone={onDone} />;
    case 'rows':
      return <SessionRows session={session} onDone={onDone} />;
    case 'candidates':
      return (
        <CandidatesTab
          job={session}
          results={results}
          bestId={session.lever_summary.best_candidate_id}
          log={log}
          load={sessionCandidates}
        />
      );
    case 'why':
      return <WhyTab session={session} log={log} />;
    case 'prompt':
      return <PromptTab session={session} results={results} />;
    case 'configuration':
      return <ConfigurationTab jobId={session.session_id} split={session.split} />;
    case 'events':
      return <EventList log={log} />;
  }
}

function Overview({ session, results, log, onDone }: TabProps) {
  const curve = useEventFold(log, () => new Curve());
  return (
    <>
      <SessionDiagnosis session={session} results={results} onDone={onDone} />
      <Figures job={session} results={results} curve={curve} proposals={results?.proposals} log={log} />
      <WinnerPanel session={session} results={results} />
      <VerdictPanel status={session.status} results={results} />
      <CurvePanel curve={curve} points={curve.points} results={results} isOver={!isActive(session.status)} />
    </>
  );
}

/** The candidate and the trace of the address. */
function Opened({ session, results }: { session: Session; results: Results | undefined }) {
  const candidate = route.value.query.get('candidate');
  return (
    <>
      {candidate && <SessionCandidate key={candidate} session={session} results={results} candidateId={candidate} />}
      <TraceFromAddress jobId={session.job_id} />
    </>
  );
}
