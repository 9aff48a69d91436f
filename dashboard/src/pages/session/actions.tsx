import { useState } from 'preact/hooks';
import { client } from '../../data/client.js';
import { saveAnswer } from '../../data/download.js';
import { go, link, pageOf } from '../../util/router.js';
import { ActionBar, type PageAction } from '../../ui/action-bar.js';
import { archiveAction, cancelAction, cloneAction, editAndRun } from '../job/actions.js';
import { LabelsDialog, type Labels } from '../job/labels.js';
import { deployNote } from '../search/deploy-note.js';
import { isActive } from '../../data/job.js';
import { actionsAfter, primaryOf, type Action } from './admitted.js';
import type { DialogProps } from './dialogs/props.js';
import { ExtendDialog, extensionOf } from './dialogs/extend.js';
import { HintDialog } from './dialogs/hint.js';
import { SuggestDialog } from './dialogs/suggest.js';
import type { Results, Session } from '../../data/session/types.js';

const dialogs = { hint: HintDialog, label: SessionLabels, suggest: SuggestDialog };
type WithDialog = keyof typeof dialogs | 'extend';

interface Props {
  session: Session;
  results: Results | undefined;
  onDone: () => Promise<unknown>;
}

/** Beside the primary action, as far as they are admitted. */
const beside: Record<'open' | 'over', Action[]> = { open: ['suggest', 'hint'], over: ['deploy', 'again', 'extend'] };
const mostBeside = 2;

/** What can be done with a session: what its status admits. */
export function Actions({ session, results, onDone }: Props) {
  const [opened, setOpened] = useState<WithDialog | null>(null);
  const known = knownActions({ session, onDone, ask: setOpened });
  const admitted = [...actionsAfter(session, results)];
  const primary = primaryOf(session, results);
  const isOver = !isActive(session.status);
  const plain = beside[isOver ? 'over' : 'open']
    .filter((action) => action !== primary && admitted.includes(action))
    .filter((action) => action !== 'deploy' || !isBaselineBest(session))
    .slice(0, mostBeside);
  const more = admitted.filter((action) => action !== primary && !plain.includes(action));
  const Opened = opened !== null && opened !== 'extend' && dialogs[opened];
  const close = () => setOpened(null);
  return (
    <>
      <ActionBar
        primary={primary ? known[primary] : undefined}
        plain={plain.map((action) => known[action])}
        more={more.map((action) => known[action])}
        note={isOver && results ? deployNote(results) : null}
      />
      {Opened && <Opened session={session} onDone={onDone} onClose={close} />}
      {opened === 'extend' && (
        <ExtendDialog session={session} totals={extensionOf(results?.diagnosis)} onDone={onDone} onClose={close} />
      )}
    </>
  );
}

function knownActions(of: {
  session: Session;
  onDone: () => Promise<unknown>;
  ask: (dialog: WithDialog) => void;
}): Record<Action, PageAction> {
  const { session, onDone, ask } = of;
  const { session_id: id, job_id: jobId } = session;
  const path = { session_id: id };
  const call = (name: 'resumeSession' | 'pauseSession' | 'cancelSession') => () =>
    client.value.request(name, { path, body: null }).then(onDone);
  const clone = async () => go(pageOf((await client.value.request('cloneSession', { path, body: null })).session_id));
  const archive = (archived: boolean) =>
    client.value.request('updateSession', { path, body: { archived } }).then(onDone);
  const best = isActive(session.status) ? 'best' : 'winner';
  return {
    deploy: {
      label: `Deploy the ${isBaselineBest(session) ? 'baseline' : best}`,
      href: link(['deployments'], { source: id }),
    },
    resume: { label: 'Resume', run: call('resumeSession') },
    pause: { label: 'Pause', run: call('pauseSession') },
    suggest: { label: 'Try my prompt', open: () => ask('suggest') },
    hint: { label: session.hint === null ? 'Give a hint' : 'Hint', open: () => ask('hint') },
    extend: { label: 'Extend', open: () => ask('extend') },
    again: editAndRun(id),
    clone: cloneAction('session', session, clone),
    label: { label: 'Edit', title: 'Name, tags and notes', open: () => ask('label') },
    archive: archiveAction('session', session, archive),
    report: {
      label: 'Report',
      run: () => saveAnswer(client.value.download('getSessionReport', { path }), `report-${jobId}.html`),
    },
    download: {
      label: 'Download traces',
      run: () => saveAnswer(client.value.download('downloadSessionTraces', { path }), `${jobId}.zip`),
    },
    cancel: cancelAction(
      'session',
      'The search ends now, without a comparison on held-out rows.',
      call('cancelSession'),
    ),
  };
}

function isBaselineBest({
  lever_summary: { best_candidate_id: best, baseline_candidate_id: baseline },
}: Session): boolean {
  return best !== null && best === baseline;
}

function SessionLabels({ session, onDone, onClose }: DialogProps) {
  const path = { session_id: session.session_id };
  const save = (body: Labels) => client.value.request('updateSession', { path, body }).then(onDone);
  return <LabelsDialog job={session} run={save} onClose={onClose} />;
}
