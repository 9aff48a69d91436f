/** A message of a prompt. */
export interface Message {
  role: 'system' | 'user' | 'assistant';
  content: string;
  /** Name of the component if there are several. */
  name?: string;
}
