import { useEventFold, useEventLog, type EventLog } from '../../data/event-log.js';
import { useResource } from '../../data/resource.js';
import { count, words } from '../../util/format.js';
import { here, link, route } from '../../util/router.js';
import { Loading, Problem } from '../../ui/basics.js';
import { EventList } from '../../ui/events/list.js';
import { currentTab, TabPanel, Tabs } from '../../ui/tabs.js';
import { TraceFromAddress } from '../../ui/trace/from-address.js';
import { RowsTab } from '../rows/tab.js';
import { CandidatesTab } from '../search/candidates/tab.js';
import { CurvePanel } from '../search/curve-panel.js';
import { Curve } from '../search/curve.js';
import { Figures } from '../search/figures.js';
import { pollMs, useAtEnd, useJob } from '../search/follow.js';
import { ConfigurationTab } from '../configuration/tab.js';
import { DiagnosisPanel } from '../job/diagnosis-panel.js';
import { Head } from '../job/head.js';
import { isActive } from '../../data/job.js';
import { isRepeated } from '../search/verdict.js';
import { VerdictPanel } from '../search/verdict-panel.js';
import { Actions } from './actions.js';
import { GraphCandidate } from './candidate-dialog.js';
import { CostPanel } from './cost-panel.js';
import { graphCandidates } from '../../data/candidates.js';
import { client } from '../../data/client.js';
import { firstOfSearch } from '../../data/first-reward.js';
import { GraphTab } from './graph-tab.js';
import type { GraphJob } from '../../data/graph/types.js';

const tabs = ['overview', 'rows', 'graph', 'candidates', 'configuration', 'events'] as const;
const labels = {
  overview: 'Overview',
  rows: 'Rows',
  graph: 'Graph',
  candidates: 'Candidates',
  configuration: 'Configuration',
  events: 'Events',
};

/** A graph job: live while it runs. */
export function GraphPage({ id }: { id: string }) {
  const log = useEventLog(id);
  const { data: job, error, reload } = useJob(id, (signal) => client.value.graphs.handle(id).get({ signal }));
  useAtEnd(log, job?.status, reload);
  if (!job) return error ? <Problem error={error} /> : <Loading />;
  const { num_tasks: tasks, verifier_mode: mode, policy_models: models } = job;
  const facts = (
    <>
      {models.length > 1 && <span>and {models.slice(1).join(', ')}</span>}
      <span>
        {count(tasks)} tasks, scorer {words(mode)}
      </span>
    </>
  );
  return (
    <>
      <Head
        job={job}
        kind="graph job"
        first={firstOfSearch(job, job)}
        facts={facts}
        actions={<Actions job={job} onDone={reload} />}
        log={log}
      />
      <Problem error={error} />
      <Tabs names={tabs} labels={labels} />
      <TabPanel names={tabs}>
        <Tab job={job} log={log} />
      </TabPanel>
      <Opened job={job} />
    </>
  );
}

function Tab({ job, log }: { job: GraphJob; log: EventLog }) {
  switch (currentTab(tabs)) {
    case 'overview':
      return <Overview job={job} log={log} />;
    case 'rows':
      return (
        <RowsTab jobId={job.job_id} isLive={isActive(job.status)} hasDataset heldout={job.split?.heldout.length ?? 0} />
      );
    case 'graph':
      return <GraphTab job={job} />;
    case 'candidates':
      return (
        <CandidatesTab
          job={job}
          results={job}
          bestId={job.best_candidate?.candidate_id ?? null}
          log={log}
          load={graphCandidates}
        />
      );
    case 'configuration':
      return <ConfigurationTab jobId={job.job_id} split={job.split} />;
    case 'events':
      return <EventList log={log} />;
  }
}

function Overview({ job, log }: { job: GraphJob; log: EventLog }) {
  const curve = useEventFold(log, () => new Curve());
  const pareto = useResource(
    `pareto ${job.job_id} ${job.status}`,
    (signal) => client.value.request('getGraphJobPareto', { path: { job_id: job.job_id }, signal }),
    isActive(job.status) ? 2 * pollMs : null,
  );
  return (
    <>
      <DiagnosisPanel
        jobId={job.job_id}
        diagnosis={job.diagnosis}
        hasFacts={!isRepeated(job)}
        button={<GraphButton job={job} />}
      />
      <Figures job={job} results={job} curve={curve} proposals={job.proposals} log={log} />
      <VerdictPanel status={job.status} results={job} />
      <CurvePanel curve={curve} points={curve.points} results={job} isOver={!isActive(job.status)} />
      <CostPanel job={job} pareto={pareto.data} error={pareto.error} />
    </>
  );
}

/** There is no form for graph jobs: other actions are said in words. */
function GraphButton({ job }: { job: GraphJob }) {
  const { action } = job.diagnosis ?? {};
  if (!action) return null;
  if (action.kind !== 'deploy' && action.kind !== 'read_rows') return <p>Next: {action.label}.</p>;
  const href =
    action.kind === 'deploy' ? link(['deployments'], { source: job.job_id }) : here({ tab: 'rows', group: 'failing' });
  return (
    <a class="button" href={href}>
      {action.label}
    </a>
  );
}

/** The candidate and the trace of the address. */
function Opened({ job }: { job: GraphJob }) {
  const candidate = route.value.query.get('candidate');
  return (
    <>
      {candidate && <GraphCandidate key={candidate} job={job} candidateId={candidate} />}
      <TraceFromAddress jobId={job.job_id} />
    </>
  );
}
