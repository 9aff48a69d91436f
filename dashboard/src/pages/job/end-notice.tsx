import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { isActive, shareOf, type Job } from '../../data/job.js';
import { setFavicon } from '../../util/favicon.js';
import { reward, shortId, words } from '../../util/format.js';
import { setMark } from '../../util/navigation.js';

/** By job, how its end is told; absent: by the title alone, as nobody asked for more. */
const asked = signal<ReadonlyMap<string, 'notification' | 'title'>>(new Map());

const canNotify = (): boolean => 'Notification' in globalThis && isSecureContext;

/** Asks the browser for its permission, only when it is pressed. */
export function TellMe({ job: { job_id: id } }: { job: Job }) {
  const how = asked.value.get(id);
  const ask = async () => {
    const permission = canNotify() ? await Notification.requestPermission() : 'denied';
    asked.value = new Map(asked.value).set(id, permission === 'granted' ? 'notification' : 'title');
  };
  return (
    <span class="tell-me" role="status">
      {how === 'notification' && 'A notification will tell you.'}
      {how === 'title' && 'The browser shows no notifications: the title of this tab will say “done”.'}
      {how === undefined && (
        <button type="button" class="button button-small" onClick={() => void ask()}>
          Tell me when it ends
        </button>
      )}
    </span>
  );
}

/** Title and icon of the tab say how far the job is, and that it has ended meanwhile. */
export function useEndNotice(job: Job): void {
  const { job_id: id, status } = job;
  const isOpen = isActive(status);
  const wasOpen = useRef(isOpen);
  const share = shareOf(job);
  const percent = share === null ? null : Math.floor(100 * share);
  useEffect(() => {
    if (isOpen) {
      setMark(percent === null ? '…' : `${percent} %`);
      setFavicon(status === 'paused' ? 'paused' : 'running', share ?? 0);
    } else if (wasOpen.current) {
      setMark(`${status === 'completed' ? 'done' : words(status)}:`);
      setFavicon(status === 'completed' ? 'done' : 'failed', 1);
      tell(job);
    }
    wasOpen.current = isOpen;
  }, [isOpen, status, percent]);
  useEffect(
    () => () => {
      setMark(null);
      setFavicon(null);
    },
    [id],
  );
}

function tell(job: Job): void {
  const { job_id: id, name, status } = job;
  if (asked.value.get(id) !== 'notification') return;
  const [measured, best] = 'best_reward' in job ? ['Estimate', job.best_reward] : ['Reward', job.summary.mean_reward];
  const body = best === null ? '' : `${measured} ${reward(best)}`;
  const shown = new Notification(`${name ?? shortId(id)}: ${words(status)}`, { body, tag: id });
  shown.onclick = () => window.focus();
}
