import { expect, test } from 'vitest';
import { toGatewayError } from '../../../../platforms/telegram/errors.ts';

test('an answer of a proxy without any field of the Bot API is still a failure of the port', () => {
  const error = Object.assign(new Error('Call failed'), { name: 'GrammyError' });
  expect(toGatewayError(error, 'sendDocument')).toMatchObject({
    code: 'send_unknown',
    message: 'Telegram refused sendDocument: no reason given.',
  });
});
