import { pythonWith } from '../venv.js';

/** The version of the peer. */
export const optunaVersion = '5.0.0';

/** A Python with Optuna in it: see `pythonWith`. */
export function optunaPython(folder: string): Promise<string> {
  return pythonWith({ name: 'optuna', version: optunaVersion }, folder);
}
