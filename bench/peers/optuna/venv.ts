import { pythonWith } from '../venv.js';

/** The peer's version. */
export const optunaVersion = '5.0.0';

/** A Python with Optuna; see `pythonWith`. */
export function optunaPython(folder: string): Promise<string> {
  return pythonWith({ name: 'optuna', version: optunaVersion }, folder);
}
