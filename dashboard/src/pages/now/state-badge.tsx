import type { Health } from '../../data/health/health.js';
import { Badge } from '../../ui/basics.js';

const looks = { ok: 'ready', slow: 'paused', throttled: 'paused', failing: 'failed' };

export function StateBadge({ state }: { state: Health['state'] }) {
  return <Badge status={looks[state]} text={state} />;
}
