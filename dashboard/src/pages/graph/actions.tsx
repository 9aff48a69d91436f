import { useState } from 'preact/hooks';
import { client } from '../../data/client.js';
import { saveAnswer } from '../../data/download.js';
import { go, link, pageOf } from '../../util/router.js';
import { ActionButton } from '../../ui/basics.js';
import { ArchiveButton } from '../job/archive.js';
import { CancelButton } from '../job/cancel.js';
import { CloneButton, EditAndRun } from '../job/clone.js';
import { LabelsDialog, type Labels } from '../job/labels.js';
import { isActive } from '../../data/job.js';
import type { GraphJob } from '../../data/graph/types.js';

type Command = 'startGraphJob' | 'pauseGraphJob' | 'resumeGraphJob' | 'cancelGraphJob';

/** The buttons of a graph job: those that its status admits. */
export function Actions({ job, onDone }: { job: GraphJob; onDone: () => Promise<unknown> }) {
  const [isLabelling, setLabelling] = useState(false);
  const { job_id: id, status } = job;
  const path = { job_id: id };
  const command = (name: Command) => client.value.request(name, { path, body: null }).then(onDone);
  const update = (body: Labels | { archived: boolean }) =>
    client.value.request('updateGraphJob', { path, body }).then(onDone);
  const clone = async () => go(pageOf((await client.value.request('cloneGraphJob', { path, body: null })).job_id));
  const save = (name: 'downloadGraph' | 'downloadGraphJobTraces' | 'getGraphJobReport', file: string) =>
    saveAnswer(client.value.download(name, { path }), file);
  return (
    <div class="actions" role="group" aria-label="Actions">
      {status === 'pending' && (
        <ActionButton kind="primary" run={() => command('startGraphJob')}>
          Start
        </ActionButton>
      )}
      {status === 'paused' && <ActionButton run={() => command('resumeGraphJob')}>Resume</ActionButton>}
      {status === 'running' && <ActionButton run={() => command('pauseGraphJob')}>Pause</ActionButton>}
      {job.best_candidate !== null && (
        <ActionButton
          kind={isActive(status) ? 'plain' : 'primary'}
          title="The best graph, its scores, every candidate, and run.py, which runs it without Ratchet"
          run={() => save('downloadGraph', `${id}-graph.zip`)}
        >
          Download graph
        </ActionButton>
      )}
      {job.best_candidate !== null && (
        <a class="button" href={link(['deployments'], { source: id })}>
          {isActive(status) ? 'Deploy the best' : 'Deploy the winner'}
        </a>
      )}
      <EditAndRun id={id} />
      <CloneButton kind="graph job" job={job} run={clone} />
      <button type="button" class="button" onClick={() => setLabelling(true)}>
        Edit
      </button>
      <ArchiveButton job={job} kind="graph job" run={(archived) => update({ archived })} />
      <ActionButton run={() => save('getGraphJobReport', `report-${id}.html`)}>Report</ActionButton>
      <ActionButton run={() => save('downloadGraphJobTraces', `${id}.zip`)}>Download traces</ActionButton>
      {isActive(status) && (
        <CancelButton kind="graph job" run={() => command('cancelGraphJob')}>
          The search ends now, without a comparison on held-out tasks.
        </CancelButton>
      )}
      {isLabelling && <LabelsDialog job={job} run={update} onClose={() => setLabelling(false)} />}
    </div>
  );
}
