import { pythonWith } from '../venv.js';

/** The peer's version. Its sampler is Optuna's. */
export const dspyVersion = '3.4.1';
const optunaVersion = '5.0.0';

/** A Python with the official dspy; see `pythonWith`. */
export function dspyPython(folder: string, env?: NodeJS.ProcessEnv): Promise<string> {
  const optuna = { name: 'optuna', version: optunaVersion };
  return pythonWith({ name: 'dspy', version: dspyVersion, beside: [optuna] }, folder, env);
}
