// Nodes, then relationships; statements are parted by semicolons.
CREATE
  (:Team {id: 1, name: 'Blue'}),
  (:Team {id: 2, name: 'Green'}),
  (:Team {id: 3, name: 'Green'}),
  (:Team {id: 4, name: 'Empty'});
CREATE
  (:Person {id: 1, name: 'Ada', joinedOn: date('2024-01-01'), hours: 30}),
  (:Person {id: 2, name: 'Ben', joinedOn: date('2023-12-31'), hours: 31}),
  (:Person {id: 3, name: 'Cem', joinedOn: date('2024-01-01')}),
  (:Person {id: 4, name: 'Dia', joinedOn: date('2024-01-02')}),
  (:Person {id: 5, name: 'Eve', joinedOn: date('2023-12-31'), hours: 29}),
  (:Person {id: 6, name: 'Fay', joinedOn: date('2024-01-01')});
UNWIND [[1, 1], [2, 1], [3, 2], [4, 2], [5, 3]] AS pair
MATCH (p:Person {id: pair[0]}), (t:Team {id: pair[1]})
CREATE (p)-[:MEMBER_OF]->(t);
