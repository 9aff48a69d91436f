import type { App, HttpDeps } from '../../platform/http/deps.js';
import { registerCompareMany } from './many.js';
import { registerComparePair } from './pair.js';
import { registerComparedRows } from './rows.js';

export function registerComparisons(app: App, deps: HttpDeps): void {
  registerComparePair(app, deps);
  registerCompareMany(app, deps);
  registerComparedRows(app, deps);
}
