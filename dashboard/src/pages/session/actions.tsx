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
import { actionsOf, type Action } from './admitted.js';
import type { DialogProps } from './dialogs/props.js';
import { ExtendDialog } from './dialogs/extend.js';
import { HintDialog } from './dialogs/hint.js';
import { SuggestDialog } from './dialogs/suggest.js';
import type { Session } from '../../data/session/types.js';

const dialogs = {
  extend: ExtendDialog,
  hint: HintDialog,
  label: SessionLabels,
  suggest: SuggestDialog,
};
type WithDialog = keyof typeof dialogs;

/** The buttons of a session: those that its status admits. */
export function Actions(props: { session: Session; onDone: () => Promise<unknown> }) {
  const { session, onDone } = props;
  const [opened, setOpened] = useState<WithDialog | null>(null);
  const admitted = actionsOf(session);
  const isOver = !isActive(session.status);
  const { best_candidate_id: best, baseline_candidate_id: baseline } = session.lever_summary;
  const isBaseline = best !== null && best === baseline;
  const path = { session_id: session.session_id };
  const call = (action: Action, label: string, run: () => Promise<unknown>) =>
    admitted.has(action) && <ActionButton run={run}>{label}</ActionButton>;
  const ask = (action: WithDialog, label: string) =>
    admitted.has(action) && (
      <button type="button" class="button" onClick={() => setOpened(action)}>
        {label}
      </button>
    );
  const clone = async () => go(pageOf((await client.value.request('cloneSession', { path, body: null })).session_id));
  const cancel = () => client.value.request('cancelSession', { path, body: null }).then(onDone);
  const archive = (archived: boolean) =>
    client.value.request('updateSession', { path, body: { archived } }).then(onDone);
  const download = () => saveAnswer(client.value.download('downloadSessionTraces', { path }), `${session.job_id}.zip`);
  const report = () => saveAnswer(client.value.download('getSessionReport', { path }), `report-${session.job_id}.html`);
  const Opened = opened && dialogs[opened];
  return (
    <div class="actions" role="group" aria-label="Actions">
      {admitted.has('deploy') && (
        <a class="button" href={link(['deployments'], { source: session.session_id })}>
          {isBaseline ? 'Deploy the baseline' : isOver ? 'Deploy the winner' : 'Deploy the best'}
        </a>
      )}
      {call('resume', 'Resume', () => client.value.request('resumeSession', { path, body: null }).then(onDone))}
      {call('pause', 'Pause', () => client.value.request('pauseSession', { path, body: null }).then(onDone))}
      {ask('suggest', 'Try my prompt')}
      {ask('hint', session.hint === null ? 'Give a hint' : 'Hint')}
      {ask('extend', 'Extend')}
      {admitted.has('clone') && <EditAndRun id={session.session_id} />}
      {admitted.has('clone') && <CloneButton kind="session" job={session} run={clone} />}
      {ask('label', 'Edit')}
      {admitted.has('archive') && <ArchiveButton job={session} kind="session" run={archive} />}
      <ActionButton run={report}>Report</ActionButton>
      {call('download', 'Download traces', download)}
      {admitted.has('cancel') && (
        <CancelButton kind="session" run={cancel}>
          The search ends now, without a comparison on held-out rows.
        </CancelButton>
      )}
      {Opened && <Opened session={session} onDone={onDone} onClose={() => setOpened(null)} />}
    </div>
  );
}

function SessionLabels({ session, onDone, onClose }: DialogProps) {
  const path = { session_id: session.session_id };
  const save = (body: Labels) => client.value.request('updateSession', { path, body }).then(onDone);
  return <LabelsDialog job={session} run={save} onClose={onClose} />;
}
