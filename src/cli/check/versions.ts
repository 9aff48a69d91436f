import { parseProject, parsePrompt, projectFile, type ReadTask, type TaskOptions } from '../task/task.js';
import type { Prompt } from '../task/prompt-file.js';
import { fileAt, shortOf } from './git.js';

/** A prompt and the model that answers it. */
export interface Version {
  prompt: Prompt;
  model: string | undefined;
}

/** The version at a commit; null: the commit has no file of the prompt. */
export async function versionAt(commit: string, task: ReadTask, given: TaskOptions): Promise<Version | null> {
  const text = await fileAt(commit, projectFile);
  const project = text === null ? {} : parseProject(text, `${projectFile} at ${shortOf(commit)}`);
  const path = given.prompt ?? project.prompt ?? task.prompt!;
  const file = await fileAt(commit, path);
  if (file === null) return null;
  return { prompt: parsePrompt(file, path), model: given.model ?? project.model ?? task.model };
}
