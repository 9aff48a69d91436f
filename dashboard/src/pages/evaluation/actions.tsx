import { useState } from 'preact/hooks';
import { client } from '../../data/client.js';
import { saveAnswer } from '../../data/download.js';
import { go, pageOf } from '../../util/router.js';
import { ActionButton } from '../../ui/basics.js';
import { ArchiveButton } from '../job/archive.js';
import { CancelButton } from '../job/cancel.js';
import { CloneButton, EditAndRun } from '../job/clone.js';
import { LabelsDialog, type Labels } from '../job/labels.js';
import { isActive } from '../../data/job.js';
import type { Evaluation } from '../../data/evaluation/types.js';

/** The buttons of an evaluation: those that its status admits. */
export function Actions({ job, onDone }: { job: Evaluation; onDone: () => Promise<unknown> }) {
  const [isLabelling, setLabelling] = useState(false);
  const path = { job_id: job.job_id };
  const command = (id: 'pauseEvaluation' | 'resumeEvaluation' | 'cancelEvaluation') =>
    client.value.request(id, { path, body: null }).then(onDone);
  const clone = async () => go(pageOf((await client.value.request('cloneEvaluation', { path, body: null })).job_id));
  const update = (body: Partial<Labels> & { archived?: boolean }) =>
    client.value.request('updateEvaluation', { path, body }).then(onDone);
  const download = () => saveAnswer(client.value.download('downloadEvaluationTraces', { path }), `${job.job_id}.zip`);
  const report = () => saveAnswer(client.value.download('getEvaluationReport', { path }), `report-${job.job_id}.html`);
  return (
    <div class="actions" role="group" aria-label="Actions">
      {job.status === 'running' && <ActionButton run={() => command('pauseEvaluation')}>Pause</ActionButton>}
      {job.status === 'paused' && <ActionButton run={() => command('resumeEvaluation')}>Resume</ActionButton>}
      <EditAndRun id={job.job_id} />
      <CloneButton kind="evaluation" job={job} run={clone} />
      <button type="button" class="button" onClick={() => setLabelling(true)}>
        Edit
      </button>
      <ArchiveButton job={job} kind="evaluation" run={(archived) => update({ archived })} />
      <ActionButton run={report}>Report</ActionButton>
      <ActionButton run={download}>Download traces</ActionButton>
      {isActive(job.status) && (
        <CancelButton kind="evaluation" run={() => command('cancelEvaluation')}>
          Rows that are not finished stay without a result.
        </CancelButton>
      )}
      {isLabelling && <LabelsDialog job={job} run={update} onClose={() => setLabelling(false)} />}
    </div>
  );
}
