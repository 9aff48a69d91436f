import { useState } from 'preact/hooks';
import { client } from '../../data/client.js';
import { saveAnswer } from '../../data/download.js';
import { go, pageOf } from '../../util/router.js';
import { ActionBar, type PageAction } from '../../ui/action-bar.js';
import { archiveAction, cancelAction, cloneAction, editAndRun } from '../job/actions.js';
import { LabelsDialog, type Labels } from '../job/labels.js';
import { isActive } from '../../data/job.js';
import type { Evaluation } from '../../data/evaluation/types.js';

/** What can be done with an evaluation: what its status admits. */
export function Actions({ job, onDone }: { job: Evaluation; onDone: () => Promise<unknown> }) {
  const [isLabelling, setLabelling] = useState(false);
  const { job_id: id, status } = job;
  const path = { job_id: id };
  const isOpen = isActive(status);
  const command = (name: 'pauseEvaluation' | 'resumeEvaluation' | 'cancelEvaluation') => () =>
    client.value.request(name, { path, body: null }).then(onDone);
  const clone = async () => go(pageOf((await client.value.request('cloneEvaluation', { path, body: null })).job_id));
  const update = (body: Partial<Labels> & { archived?: boolean }) =>
    client.value.request('updateEvaluation', { path, body }).then(onDone);
  const again = editAndRun(id);
  const report: PageAction = {
    label: 'Report',
    run: () => saveAnswer(client.value.download('getEvaluationReport', { path }), `report-${id}.html`),
  };
  const pause: PageAction | undefined =
    status === 'paused'
      ? { label: 'Resume', run: command('resumeEvaluation') }
      : status === 'running'
        ? { label: 'Pause', run: command('pauseEvaluation') }
        : undefined;
  // A button of the diagnosis is the primary one.
  const isAdvised = Boolean(job.diagnosis?.action && job.dataset);
  const primary = isOpen ? pause : isAdvised ? undefined : again;
  const more = [
    cloneAction('evaluation', job, clone),
    { label: 'Edit', title: 'Name, tags and notes', open: () => setLabelling(true) },
    archiveAction('evaluation', job, (archived) => update({ archived })),
    {
      label: 'Download traces',
      run: () => saveAnswer(client.value.download('downloadEvaluationTraces', { path }), `${id}.zip`),
    },
    ...(isOpen
      ? [cancelAction('evaluation', 'Rows that are not finished stay without a result.', command('cancelEvaluation'))]
      : []),
  ];
  return (
    <>
      <ActionBar primary={primary} plain={primary === again ? [report] : [again, report]} more={more} />
      {isLabelling && <LabelsDialog job={job} run={update} onClose={() => setLabelling(false)} />}
    </>
  );
}
