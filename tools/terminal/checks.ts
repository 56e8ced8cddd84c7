/** Folder names come from a model: only characters that no shell and no chat can misread. */
const foreignCharacter = /[^\p{L}\p{N}/\\:_\-.~ +@=,]/u;

/** Why a `workdir` is refused, naming the character; null when it is fine. */
export function workdirProblem(workdir: string): string | null {
  const found = foreignCharacter.exec(workdir)?.[0];
  return found === undefined
    ? null
    : `Blocked: workdir contains ${JSON.stringify(found)}, which is not allowed there. Use cd in the command for such a folder.`;
}

const ownName = String.raw`(?:hermes-gateway|hermes\s+gateway)`;
/** Stopping the gateway from inside would end the turn that asked for it, before the answer is delivered. */
const gatewayStops: readonly RegExp[] = [
  new RegExp(`\\b${ownName}\\s+(?:stop|restart)\\b`),
  /\bsystemctl\s+(?:--user\s+)?(?:stop|restart|kill)\s+\S*hermes/,
  /\bservice\s+hermes\S*\s+(?:stop|restart)\b/,
];

export function gatewayStopProblem(command: string): string | null {
  return gatewayStops.some((shape) => shape.test(command))
    ? 'Refused: this would stop or restart the gateway that runs this conversation. Ask the person to do it.'
    : null;
}

/** Programs that read a secret from standard input until its end: a terminal would wait for ever. */
export const needsPipe = (command: string) => /\s--(?:with-token|password-stdin)\b/.test(command);

export function sudoHint(output: string): string | null {
  return /sudo: (?:a password is required|a terminal is required|no tty present)/.test(output)
    ? 'sudo asks for a password, which nobody can type here. Use a user that may run this command without one (NOPASSWD), or do without sudo.'
    : null;
}
