/** Saves an answer as a file of the browser. */
export async function saveAnswer(answer: Promise<Response>, name: string): Promise<void> {
  const url = URL.createObjectURL(await (await answer).blob());
  const anchor = document.createElement('a');
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  URL.revokeObjectURL(url);
}
