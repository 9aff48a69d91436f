import type { Named } from '../data/first-reward.js';
import { reward } from '../util/format.js';

/** The one number of a page, by its name, with its interval beside the baseline. */
export function FirstNumber({ of, isOver = false }: { of: Named | null; isOver?: boolean }) {
  if (of === null) return <p class="first-number quiet">{isOver ? 'No reward' : 'No reward yet'}</p>;
  const { name, reward: value, interval, baseline } = of;
  return (
    <p class="first-number">
      <strong>{reward(value)}</strong> <span>{name}</span>
      {interval && (
        <span class="quiet" title="95 % interval of the mean reward on unseen rows of the same kind">
          95 %: {reward(interval.low)} to {reward(interval.high)}
        </span>
      )}
      {baseline !== null && <span class="quiet">baseline {reward(baseline)}</span>}
    </p>
  );
}
