import { pythonWith } from '../venv.js';

/** The version of the peer. */
export const gepaVersion = '0.1.4';

/** A Python with the official gepa in it: see `pythonWith`. */
export function gepaPython(folder: string, env?: NodeJS.ProcessEnv): Promise<string> {
  return pythonWith({ name: 'gepa', version: gepaVersion }, folder, env);
}
