import { isActive } from '../../data/job.js';
import type { Results, Session } from '../../data/session/types.js';

export type Action =
  | 'deploy'
  | 'resume'
  | 'pause'
  | 'suggest'
  | 'hint'
  | 'extend'
  | 'again'
  | 'clone'
  | 'label'
  | 'archive'
  | 'report'
  | 'download'
  | 'cancel';

/** The actions that the status of a session admits, in the order in which they are shown. */
export function actionsOf(
  session: Pick<Session, 'status' | 'container_url' | 'dataset' | 'best_candidate'>,
): ReadonlySet<Action> {
  const { status } = session;
  const isLiveTraffic = session.container_url === null && session.dataset === undefined;
  const isOpen = status === 'running' || status === 'paused';
  const isOver = status === 'completed' || status === 'failed' || status === 'cancelled';
  const admitted: Record<Action, boolean> = {
    deploy: session.best_candidate !== null,
    resume: status === 'paused',
    pause: status === 'running',
    suggest: isOpen && !isLiveTraffic,
    hint: isOpen,
    // A cancelled one goes on where it was.
    extend: isOver && !isLiveTraffic && (status === 'cancelled' || session.best_candidate !== null),
    again: true,
    clone: true,
    label: true,
    archive: true,
    report: true,
    download: true,
    cancel: !isOver,
  };
  return new Set((Object.keys(admitted) as Action[]).filter((action) => admitted[action]));
}

type Found = Pick<Results, 'verdict' | 'best_candidate' | 'diagnosis'>;

/** Leaves out Deploy if every answer is wrong, and Extend if larger limits change nothing. */
export function actionsAfter(
  session: Parameters<typeof actionsOf>[0],
  found: Pick<Results, 'diagnosis' | 'nothing_left' | 'best_reward'> | undefined,
): ReadonlySet<Action> {
  const admitted = new Set(actionsOf(session));
  if (!found || isActive(session.status)) return admitted;
  if (found.diagnosis?.code === 'all_wrong' || found.best_reward === 0) admitted.delete('deploy');
  if (found.nothing_left !== null) admitted.delete('extend');
  return admitted;
}

/** The one action that the state asks for; null: none, or the button of the diagnosis is it. */
export function primaryOf(
  session: Parameters<typeof actionsOf>[0] & Pick<Session, 'dataset'>,
  found: Found | undefined,
): 'pause' | 'resume' | 'deploy' | 'extend' | 'again' | null {
  const { status } = session;
  if (status === 'running') return 'pause';
  if (status === 'paused') return 'resume';
  if (isActive(status) || !found) return null;
  const advised = found.diagnosis?.action?.kind;
  if ((advised === 'extend' || advised === 'deploy') && actionsOf(session).has(advised)) return advised;
  if (advised === 'read_rows') return null;
  if ((advised === 'new_run' || advised === 'more_rows') && session.dataset !== undefined) return null;
  return found.verdict === 'better' && !found.best_candidate?.is_baseline ? 'deploy' : 'again';
}
