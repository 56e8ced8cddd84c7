/** Slack's three control characters. docs.slack.dev/messaging/formatting-message-text, "Escaping text" */
export function escapeMrkdwn(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
