import { unitOfView } from '../../../../src/core/jobs/unit.js';
import { counted } from '../../../../src/core/math/words.js';
import { words } from '../../util/format.js';
import type { Named } from '../../data/first-reward.js';
import { pageOf, route } from '../../util/router.js';
import { ActionButton, Loading, Panel, Problem } from '../../ui/basics.js';
import { currentTab, TabPanel, Tabs } from '../../ui/tabs.js';
import { TraceFromAddress } from '../../ui/trace/from-address.js';
import { ConfigurationTab } from '../configuration/tab.js';
import { DiagnosisPanel } from '../job/diagnosis-panel.js';
import { Head } from '../job/head.js';
import { newRunFrom } from '../new/form/from-run.js';
import { Actions } from './actions.js';
import { Columns, mostColumns } from './columns.js';
import { useColumns } from '../../data/evaluation/load.js';
import { Distribution } from './distribution.js';
import { Figures } from './figures.js';
import { Matrix } from './matrix.js';
import { isActive } from '../../data/job.js';
import type { Column, Evaluation } from '../../data/evaluation/types.js';
import { DatasetLink } from '../../ui/dataset-link.js';
import { RowsTab } from '../rows/tab.js';

const tabs = ['overview', 'rows', 'beside', 'configuration'] as const;
const labels = { overview: 'Overview', rows: 'Rows', beside: 'Side by side', configuration: 'Configuration' };

/** An evaluation, with others beside it. */
export function EvaluationPage({ id }: { id: string }) {
  const beside = (route.value.query.get('with') ?? '').split(',').filter((other) => other && other !== id);
  const { data: columns, error, reload } = useColumns([id, ...new Set(beside)].slice(0, mostColumns));
  const [own] = columns ?? [];
  return (
    <>
      <Problem error={error} />
      {!own && !error && <Loading />}
      {own && columns && (
        <>
          <Head
            job={own.job}
            kind="evaluation"
            first={firstOf(own.job)}
            facts={<Facts job={own.job} />}
            actions={<Actions job={own.job} onDone={reload} />}
          />
          <Tabs names={tabs} labels={labels} />
          <TabPanel names={tabs}>
            <Tab own={own.job} columns={columns} />
          </TabPanel>
        </>
      )}
      <TraceFromAddress />
    </>
  );
}

function Tab({ own, columns }: { own: Evaluation; columns: Column[] }) {
  switch (currentTab(tabs)) {
    case 'overview':
      return (
        <>
          <DiagnosisPanel jobId={own.job_id} diagnosis={own.diagnosis} button={buttonOf(own)} />
          <Figures job={own} />
          <Distribution columns={columns} />
        </>
      );
    case 'rows':
      return <RowsTab jobId={own.job_id} isLive={isActive(own.status)} hasDataset={own.dataset !== undefined} />;
    case 'beside':
      return (
        <Panel title="Rows" aside={<Columns job={own} columns={columns} />}>
          <Matrix columns={columns} />
        </Panel>
      );
    case 'configuration':
      return <ConfigurationTab jobId={own.job_id} />;
  }
}

/** Undefined: the form of new runs has no such run. */
function buttonOf(job: Evaluation) {
  const { action } = job.diagnosis ?? {};
  if (!action || !job.dataset) return undefined;
  return (
    <ActionButton kind="primary" run={() => newRunFrom('evaluation', job, [], action.prompt_addition)}>
      {action.label}
    </ActionButton>
  );
}

/** The mean reward; null: no row has one. */
function firstOf(job: Evaluation): Named | null {
  const { mean_reward: mean, mean_reward_interval: interval, num_successful: rows } = job.summary;
  const name = `Mean reward on ${counted(rows, unitOfView(job))}`;
  return mean === null ? null : { name, reward: mean, interval, baseline: null };
}

/** What is evaluated. */
function Facts({ job: { dataset, candidate, env_name: name, container_url: container } }: { job: Evaluation }) {
  return (
    <>
      {dataset ? (
        <>
          <DatasetLink dataset={dataset} />
          <span>
            {counted(dataset.num_rows, 'row')}, scorer {words(dataset.scorer)}
          </span>
        </>
      ) : (
        <span>{name || container}</span>
      )}
      {candidate?.session_id && (
        <a href={pageOf(candidate.session_id, { candidate: candidate.candidate_id })}>candidate of a session</a>
      )}
    </>
  );
}
