import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installOnce } from '../npm.js';

/** The peer's version. */
export const langgraphVersion = '1.7.3';

const pinned = { '@langchain/langgraph': langgraphVersion, '@langchain/core': '1.4.0' };

/** The used part of LangGraph: a state with a channel per value, and nodes that update channels. */
export interface LangGraph {
  Annotation: (() => unknown) & { Root(channels: Record<string, unknown>): unknown };
  START: string;
  END: string;
  StateGraph: new (state: unknown) => StateGraph;
}
interface StateGraph {
  addNode(name: string, node: (state: State) => Promise<State>): unknown;
  /** An edge from several nodes waits for all of them. */
  addEdge(from: string | string[], to: string): unknown;
  compile(): { invoke(state: State, options: { recursionLimit: number }): Promise<State> };
}
export type State = Record<string, string>;

/**
 * LangGraph, installed once under `folder`; the product does not depend on it. Rejects with npm's
 * reason if there is no registry.
 */
export async function langgraph(folder: string): Promise<LangGraph> {
  const home = join(folder, `langgraph-${langgraphVersion}`);
  await installOnce(home, pinned);
  const entry = createRequire(join(home, 'package.json')).resolve('@langchain/langgraph');
  return (await import(pathToFileURL(entry).href)) as LangGraph;
}
