/** Whether a message is only a placeholder, which no search rewrites. */
const isFixed = (content: string) => /^\s*\{\{[^{}]+\}\}\s*$/.test(content);

/** The form of a prompt's file: JSON for a `.json` file or several texts, otherwise the text. */
export function promptText(
  { messages }: { messages: readonly { role: string; content: string }[] },
  path: string,
): string {
  const texts = messages.filter(({ content }) => !isFixed(content));
  if (path.endsWith('.json') || texts.length !== 1) return `${JSON.stringify({ messages }, null, 2)}\n`;
  return `${texts[0]!.content}\n`;
}
