import type { Outputs } from '../data/outputs.js';
import { Problem } from './basics.js';

/** Why outputs could not be read, with another try. */
export function OutputsProblem({ outputs }: { outputs: Outputs[] }) {
  const failed = outputs.filter((each) => each.error.value !== null);
  if (failed.length === 0) return null;
  return (
    <div class="bar">
      <Problem error={failed[0]!.error.value} />
      <button type="button" class="button" onClick={() => failed.forEach((each) => each.retry())}>
        Read the outputs again
      </button>
    </div>
  );
}
