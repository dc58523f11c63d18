//! The words of the generated data: names, departments, titles.

/// First names, at most 14 bytes each, with their gender.
#[rustfmt::skip]
pub const FIRST: [(&str, &str); 80] = [
    ("Aino", "F"), ("Alba", "F"), ("Amira", "F"), ("Anneli", "F"), ("Ayumi", "F"), ("Beatriz", "F"), ("Birgit", "F"),
    ("Carmen", "F"), ("Chiara", "F"), ("Dagny", "F"), ("Daria", "F"), ("Edda", "F"), ("Elif", "F"), ("Esther", "F"),
    ("Fatima", "F"), ("Frida", "F"), ("Greta", "F"), ("Hanna", "F"), ("Henriette", "F"), ("Ines", "F"), ("Ingrid", "F"),
    ("Jadwiga", "F"), ("Johanna", "F"), ("Katarina", "F"), ("Leila", "F"), ("Lucia", "F"), ("Magdalena", "F"),
    ("Marguerite", "F"), ("Nadia", "F"), ("Noor", "F"), ("Olga", "F"), ("Paloma", "F"), ("Radka", "F"), ("Rosalind", "F"),
    ("Sanna", "F"), ("Solveig", "F"), ("Tamara", "F"), ("Ulrike", "F"), ("Yasmin", "F"), ("Zofia", "F"),
    ("Abel", "M"), ("Aksel", "M"), ("Anton", "M"), ("Bartholomew", "M"), ("Bogdan", "M"), ("Cesar", "M"), ("Cyril", "M"),
    ("Dimitri", "M"), ("Edmund", "M"), ("Emil", "M"), ("Farid", "M"), ("Felix", "M"), ("Gustav", "M"), ("Hakan", "M"),
    ("Hiroshi", "M"), ("Ignacio", "M"), ("Ivar", "M"), ("Jakub", "M"), ("Joaquin", "M"), ("Karim", "M"), ("Lars", "M"),
    ("Lorenzo", "M"), ("Maximilian", "M"), ("Mikkel", "M"), ("Nikolai", "M"), ("Omar", "M"), ("Otto", "M"), ("Pavel", "M"),
    ("Quentin", "M"), ("Rasmus", "M"), ("Ricardo", "M"), ("Stefan", "M"), ("Sven", "M"), ("Tadeusz", "M"), ("Tomas", "M"),
    ("Uwe", "M"), ("Viktor", "M"), ("Wim", "M"), ("Yusuf", "M"), ("Zoltan", "M"),
];

/// Beginnings of last names; at most 9 bytes.
pub const LAST_BEGIN: [&str; 40] = [
    "Ahl", "Alder", "Ander", "Aspe", "Berg", "Birk", "Brand", "Buchen", "Dahl", "Eber", "Eichen", "Falken", "Feld",
    "Gran", "Grun", "Hag", "Hassel", "Heid", "Holm", "Kall", "Kastel", "Kirch", "Lind", "Lund", "Mar", "Mor", "Nord",
    "Ober", "Oster", "Rav", "Rosen", "Sand", "Silber", "Sol", "Stein", "Sund", "Tal", "Wald", "West", "Winter",
];

/// Ends of last names; at most 7 bytes.
pub const LAST_END: [&str; 30] = [
    "a", "bach", "baum", "beck", "berg", "blad", "borg", "brecht", "dal", "dorf", "eau", "elli", "er", "feld", "gaard",
    "gren", "hagen", "heim", "holt", "inen", "ini", "ka", "mann", "mark", "ov", "quist", "rup", "sen", "strom", "wicz",
];

/// Departments by number and name.
pub const DEPARTMENTS: [(&str, &str); 9] = [
    ("d001", "Accounts"),
    ("d002", "Assembly"),
    ("d003", "Customer Care"),
    ("d004", "Design"),
    ("d005", "Engineering"),
    ("d006", "Laboratory"),
    ("d007", "Logistics"),
    ("d008", "People"),
    ("d009", "Sales and Marketing"),
];

/// The ladders of titles: an employee climbs one ladder and has each title once.
pub const LADDERS: [[&str; 3]; 3] = [
    ["Assistant Engineer", "Engineer", "Senior Engineer"],
    ["Engineer", "Senior Engineer", "Lead Engineer"],
    ["Clerk", "Senior Clerk", "Head Clerk"],
];

/// The title of a department's manager.
pub const MANAGER: &str = "Manager";
