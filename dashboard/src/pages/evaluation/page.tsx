import { words } from '../../util/format.js';
import { pageOf, route } from '../../util/router.js';
import { ActionButton, Loading, Panel, Problem } from '../../ui/basics.js';
import { TraceFromAddress } from '../../ui/trace/from-address.js';
import { DiagnosisPanel } from '../job/diagnosis-panel.js';
import { Head } from '../job/head.js';
import { newRunFrom } from '../new/from-run.js';
import { Actions } from './actions.js';
import { Columns, mostColumns } from './columns.js';
import { useColumns } from '../../data/evaluation/load.js';
import { Distribution } from './distribution.js';
import { Figures } from './figures.js';
import { Matrix } from './matrix.js';
import type { Evaluation } from '../../data/evaluation/types.js';

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
            facts={<Facts job={own.job} />}
            actions={<Actions job={own.job} onDone={reload} />}
          />
          <DiagnosisPanel jobId={own.job.job_id} diagnosis={own.job.diagnosis} button={buttonOf(own.job)} />
          <Figures job={own.job} />
          <Panel title="Rows" aside={<Columns job={own.job} columns={columns} />}>
            <Matrix columns={columns} />
          </Panel>
          <Distribution columns={columns} />
        </>
      )}
      <TraceFromAddress />
    </>
  );
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

/** What is evaluated. */
function Facts({ job: { dataset, candidate, env_name: name, container_url: container } }: { job: Evaluation }) {
  return (
    <>
      {dataset ? (
        <span title={dataset.dataset_id}>
          {dataset.num_rows} rows, scorer {words(dataset.scorer)}
        </span>
      ) : (
        <span>{name || container}</span>
      )}
      {candidate?.session_id && (
        <a href={pageOf(candidate.session_id, { candidate: candidate.candidate_id })}>candidate of a session</a>
      )}
    </>
  );
}
