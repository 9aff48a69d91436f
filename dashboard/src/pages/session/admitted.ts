import type { Session } from '../../data/session/types.js';

export type Action =
  'pause' | 'resume' | 'cancel' | 'extend' | 'clone' | 'hint' | 'suggest' | 'label' | 'archive' | 'download' | 'deploy';

/** The actions that the status of a session admits. */
export function actionsOf(
  session: Pick<Session, 'status' | 'container_url' | 'dataset' | 'best_candidate'>,
): ReadonlySet<Action> {
  const { status } = session;
  const isLiveTraffic = session.container_url === null && session.dataset === undefined;
  const isOpen = status === 'running' || status === 'paused';
  const isOver = status === 'completed' || status === 'failed' || status === 'cancelled';
  const admitted: Record<Action, boolean> = {
    pause: status === 'running',
    resume: status === 'paused',
    cancel: !isOver,
    hint: isOpen,
    suggest: isOpen && !isLiveTraffic,
    extend: isOver && !isLiveTraffic,
    deploy: session.best_candidate !== null,
    clone: true,
    label: true,
    archive: true,
    download: true,
  };
  return new Set((Object.keys(admitted) as Action[]).filter((action) => admitted[action]));
}
