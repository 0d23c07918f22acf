// Whether the server can be reached. createConnection({ connect, back, trouble }):
//   connect()             asks for the settings and models
//   back()                repeats the question of the page
//   trouble(kind, error)  reports
// lost() says that an answer did not come: the connection asks again, at growing intervals, until the server answers.
const FIRST = 1000;

export function createConnection({ connect, back, trouble }) {
  let timer = 0;
  let wait = FIRST;
  let away = false;

  async function reconnect() {
    clearTimeout(timer);
    try {
      await connect();
      const again = away;
      away = false;
      wait = FIRST;
      trouble(again ? 'back' : null);
      back();
    } catch (error) {
      if (!error.kind) throw error;
      away = true;
      trouble(error.kind, error);
      wait = Math.min(10000, wait * 1.6);
      timer = setTimeout(reconnect, wait);
    }
  }
  const after = (delay) => {
    clearTimeout(timer);
    timer = setTimeout(reconnect, delay);
  };
  return {
    reconnect,
    lost: () => {
      away = true;
      after(wait);
    },
    soon: (now) => after(now ? 300 : wait),
    came: () => {
      wait = FIRST;
    },
    get away() {
      return away;
    },
  };
}
