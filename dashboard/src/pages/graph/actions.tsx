import { useState } from 'preact/hooks';
import { client } from '../../data/client.js';
import { saveAnswer } from '../../data/download.js';
import { go, link, pageOf } from '../../util/router.js';
import { ActionBar, type PageAction } from '../../ui/action-bar.js';
import { archiveAction, cancelAction, cloneAction, editAndRun } from '../job/actions.js';
import { LabelsDialog, type Labels } from '../job/labels.js';
import { deployNote } from '../search/deploy-note.js';
import { isActive } from '../../data/job.js';
import type { GraphJob } from '../../data/graph/types.js';

type Command = 'startGraphJob' | 'pauseGraphJob' | 'resumeGraphJob' | 'cancelGraphJob';

/** What can be done with a graph job: what its status admits. */
export function Actions({ job, onDone }: { job: GraphJob; onDone: () => Promise<unknown> }) {
  const [isLabelling, setLabelling] = useState(false);
  const { job_id: id, status, best_candidate: best, verdict } = job;
  const path = { job_id: id };
  const isOpen = isActive(status);
  const command = (name: Command) => () => client.value.request(name, { path, body: null }).then(onDone);
  const update = (body: Labels | { archived: boolean }) =>
    client.value.request('updateGraphJob', { path, body }).then(onDone);
  const clone = async () => go(pageOf((await client.value.request('cloneGraphJob', { path, body: null })).job_id));
  const save = (name: 'downloadGraph' | 'downloadGraphJobTraces' | 'getGraphJobReport', file: string) => () =>
    saveAnswer(client.value.download(name, { path }), file);
  const again = editAndRun(id);
  const found: PageAction[] =
    best === null
      ? []
      : [
          {
            label: `Deploy the ${isOpen ? 'best' : best.is_baseline ? 'baseline' : 'winner'}`,
            href: link(['deployments'], { source: id }),
          },
          {
            label: 'Download graph',
            title: 'The best graph, its scores, every candidate, and run.py, which runs it without Ratchet',
            run: save('downloadGraph', `${id}-graph.zip`),
          },
        ];
  const isWinner = verdict === 'better' && !best?.is_baseline;
  const [deploy, ...download] = found;
  const isBeside = deploy !== undefined && !best?.is_baseline;
  const [primary, ...plain] = isOpen
    ? [commandOf(status, command)]
    : isWinner
      ? [...found, again]
      : [again, ...(isBeside ? [deploy] : []), ...download];
  const more = [
    ...(isOpen ? [...found, again] : []),
    ...(!isOpen && deploy !== undefined && best?.is_baseline && job.best_reward !== 0 ? [deploy] : []),
    cloneAction('graph job', job, clone),
    { label: 'Edit', title: 'Name, tags and notes', open: () => setLabelling(true) },
    archiveAction('graph job', job, (archived) => update({ archived })),
    { label: 'Report', run: save('getGraphJobReport', `report-${id}.html`) },
    { label: 'Download traces', run: save('downloadGraphJobTraces', `${id}.zip`) },
    ...(isOpen
      ? [
          cancelAction(
            'graph job',
            'The search ends now, without a comparison on held-out tasks.',
            command('cancelGraphJob'),
          ),
        ]
      : []),
  ];
  return (
    <>
      <ActionBar primary={primary} plain={plain} more={more} note={isOpen ? null : deployNote(job)} />
      {isLabelling && <LabelsDialog job={job} run={update} onClose={() => setLabelling(false)} />}
    </>
  );
}

/** What an open job waits for, or may be stopped by. */
function commandOf(status: GraphJob['status'], command: (name: Command) => () => Promise<unknown>): PageAction {
  if (status === 'pending') return { label: 'Start', run: command('startGraphJob') };
  return status === 'paused'
    ? { label: 'Resume', run: command('resumeGraphJob') }
    : { label: 'Pause', run: command('pauseGraphJob') };
}
