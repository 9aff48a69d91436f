import { pythonWith } from '../venv.js';

/** The peer's version. */
export const gepaVersion = '0.1.4';

/** A Python with the official gepa; see `pythonWith`. */
export function gepaPython(folder: string, env?: NodeJS.ProcessEnv): Promise<string> {
  return pythonWith({ name: 'gepa', version: gepaVersion }, folder, env);
}
